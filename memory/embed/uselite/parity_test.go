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
	"runtime"
	"slices"
	"testing"
)

// golden is a text with what another implementation of the model, in floats throughout, made of it: its pieces and its vector.
type golden struct {
	Text   []byte  `json:"text"` // base64 in the file, as some are not UTF-8
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

func embedded(t testing.TB, m *Model, texts ...string) [][]float32 {
	t.Helper()
	v, err := m.Embed(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return v
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
		v := embedded(t, m, text)[0]
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

// TestVectorsAreTheSameEverywhere keeps the bits of vectors: caches and stores go from one machine to another. Whoever has to
// change the sum changes Name as well. It was computed on amd64 and on arm64; others may round functions of package math otherwise.
func TestVectorsAreTheSameEverywhere(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the sum is that of amd64 and arm64")
	}
	m, h := model(t), sha256.New()
	for _, g := range goldens(t) {
		if err := binary.Write(h, binary.LittleEndian, embedded(t, m, string(g.Text))[0]); err != nil {
			t.Fatal(err)
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != "fd7205db2110332b463333e8885f1673bfa5b422e40ad744ac9b6e415ce122b1" {
		t.Errorf("the vectors have the sum %s", got)
	}
}

// TestWeights keeps the file that WEIGHTS.md tells how to make.
func TestWeights(t *testing.T) {
	sum := sha256.Sum256([]byte(unpacked(t)))
	if got := hex.EncodeToString(sum[:]); got != "b131b5677f27a3e6f60d63bbcea35e85a815971fc381b6176e3b34c709335737" {
		t.Errorf("the weights have the sum %s", got)
	}
}
