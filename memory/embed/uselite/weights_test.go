package uselite

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/embed/pack"
)

// unpacked is the file as it was before it was packed.
func unpacked(t testing.TB) string {
	t.Helper()
	file, err := pack.Unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

func TestDamagedWeights(t *testing.T) {
	weights := unpacked(t)
	for _, n := range []int{0, 7, 8, 11, 12, 13, 5000, 99_424, 99_428, 99_500, 3_000_000, len(weights) - 1} {
		if _, err := read(weights[:n]); !errors.Is(err, errFormat) {
			t.Errorf("%d bytes of the weights: %v", n, err)
		}
	}
	for name, file := range map[string]string{
		"a foreign head":     "FRUSE2\n\x00" + weights[8:],
		"a renamed tensor":   strings.Replace(weights, "l0.qkv.w", "l0.qkv.x", 1),
		"a tensor too many":  weights[:99_424] + "\xff\xff\xff\xff" + weights[99_428:],
		"a tensor too large": strings.Replace(weights, "l0.qkv.w", "l0.qkv.w\xff\xff\xff", 1),
	} {
		if _, err := read(file); !errors.Is(err, errFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedWeightsDoNotPanic changes bytes of what tells where things are: the pieces, and the sizes behind a tensor's name.
func TestDamagedWeightsDoNotPanic(t *testing.T) {
	weights, rnd := unpacked(t), rand.New(rand.NewPCG(1, 2))
	refused := 0
	for i := range 200 {
		at := rnd.IntN(100_000)
		if i%2 == 0 {
			name := []string{"emb", "timing", "l0.qkv.w", "l1.ff2.b", "head.w"}[rnd.IntN(5)]
			at = strings.Index(weights, name) + len(name) + rnd.IntN(9)
		}
		if _, err := read(weights[:at] + string(rune(rnd.IntN(128))) + weights[at+1:]); err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no damage was seen")
	}
	t.Logf("%d of 200 refused", refused)
}
