package glove

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"testing"
)

// golden is a text with the vectors that another implementation gave: with the fixed direction taken out, and with the one that
// was fitted to all texts of the file. Both are floats in little-endian order; zeros stand for no vector.
type golden struct {
	Text, Fixed, Fitted []byte
}

func goldens(t *testing.T) []golden {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []golden
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		var g golden
		if err := json.Unmarshal(s.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	if len(out) < LeastFit {
		t.Fatalf("%d texts", len(out))
	}
	return out
}

func TestParity(t *testing.T) {
	w, all := load(t), goldens(t)
	means := make([][]float32, len(all))
	for i, g := range all {
		means[i] = mean(t, w, string(g.Text))
	}
	fixed, fitted, lowest := w.Fit(nil), w.Fit(means), float32(1)
	for i, g := range all {
		for name, v := range map[string]struct{ direction, want []float32 }{
			"fixed": {fixed, floats(t, g.Fixed)}, "fitted": {fitted, floats(t, g.Fitted)},
		} {
			got := Without(means[i], v.direction)
			if none := dot(v.want, v.want) == 0; none || got == nil {
				if !none || got != nil {
					t.Errorf("%q, %s: %v, not %v", g.Text, name, got, v.want)
				}
				continue
			}
			c := dot(got, v.want)
			lowest = min(lowest, c)
			if !(c > 0.9999) {
				t.Errorf("%q, %s: cosine %.6f", g.Text, name, c)
			}
		}
	}
	t.Logf("lowest cosine %.6f", lowest)
}

func floats(t *testing.T, b []byte) []float32 {
	t.Helper()
	v := make([]float32, Dim)
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
	return v
}
