package uselite

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// golden is a text with what another implementation of the model, in floats throughout, made of it: its pieces and its vector.
type golden struct {
	Text   []byte  `json:"text"` // base64 in the file, as some are no UTF-8
	Tokens []int32 `json:"tokens"`
	vector []float32
}

func goldens(t testing.TB) []golden {
	t.Helper()
	lines, err := os.ReadFile("testdata/texts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := os.ReadFile("testdata/vectors.bin")
	if err != nil {
		t.Fatal(err)
	}
	var out []golden
	floats := bytes.NewReader(vectors)
	for s := bufio.NewScanner(bytes.NewReader(lines)); s.Scan(); {
		g := golden{vector: make([]float32, Dim)}
		if err := json.Unmarshal(s.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		if err := binary.Read(floats, binary.LittleEndian, g.vector); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	if len(out) < 30 || floats.Len() != 0 {
		t.Fatalf("%d texts, %d bytes of vectors left over", len(out), floats.Len())
	}
	return out
}

func model(t testing.TB) *Model {
	t.Helper()
	m, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestParity(t *testing.T) {
	m := model(t)
	lowest := 1.0
	for _, g := range goldens(t) {
		text := string(g.Text)
		if got := m.Tokens(text); !slices.Equal(got, g.Tokens) {
			t.Errorf("%.60q has the pieces %v, not %v", text, got, g.Tokens)
		}
		v := m.Embed(text)[0]
		if len(g.Tokens) == 0 {
			if v != nil {
				t.Errorf("%q has a vector, and no pieces", text)
			}
			continue
		}
		if n := math.Sqrt(dot(v, v)); math.Abs(n-1) > 1e-6 {
			t.Errorf("%.60q: the vector is %v long", text, n)
		}
		c := dot(v, g.vector)
		lowest = min(lowest, c)
		if !(c >= 0.999) {
			t.Errorf("%.60q: cosine %.6f", text, c)
		}
	}
	t.Logf("lowest cosine %.6f", lowest)
}

// TestWeights keeps the file that WEIGHTS.md tells how to make.
func TestWeights(t *testing.T) {
	sum := sha256.Sum256([]byte(weights))
	if got := hex.EncodeToString(sum[:]); got != "9d02a607c421e482d23cf21e8267495ff1d70b08755aa75cbd63fe8a7ea84394" {
		t.Errorf("the weights have the sum %s", got)
	}
}
