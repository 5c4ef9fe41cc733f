package uselite

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/embed/pack"
)

// unpacked is the file as it was before it was packed.
func unpacked(t testing.TB) string {
	t.Helper()
	file, err := pack.Open(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := file.Bytes(0, file.Len())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// loadFile packs a file and loads it.
func loadFile(t testing.TB, file string) (*Model, error) {
	t.Helper()
	packed, err := pack.Pack([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return load(packed, nil)
}

func TestDamagedWeights(t *testing.T) {
	weights := unpacked(t)
	count := 8 + strings.Index(weights[8:], "\x03emb") - 4
	for _, n := range []int{0, 7, 8, 11, 12, 13, 32_000, 40_100, count - 1, count, count + 4, 3_000_000, len(weights) - 1} {
		if _, err := loadFile(t, weights[:n]); !errors.Is(err, errFormat) {
			t.Errorf("%d bytes of the weights: %v", n, err)
		}
	}
	for name, file := range map[string]string{
		"a foreign head":     "FRUSE1\n\x00" + weights[8:],
		"a renamed tensor":   strings.Replace(weights, "l0.qkv.w", "l0.qkv.x", 1),
		"a tensor too many":  weights[:count] + "\xff\xff\xff\xff" + weights[count+4:],
		"a tensor too large": strings.Replace(weights, "l0.qkv.w", "l0.qkv.w\xff\xff\xff", 1),
		"a longer piece":     weights[:12+4*8000] + "\xff" + weights[12+4*8000+1:],
	} {
		if _, err := loadFile(t, file); !errors.Is(err, errFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := load(packed[:len(packed)-1], room[:]); !errors.Is(err, errFormat) || !errors.Is(err, pack.ErrDamaged) {
		t.Errorf("packed weights without their end: %v", err)
	}
}

// TestDamagedWeightsDoNotPanic changes bytes of what tells where things are: the pieces, and the sizes behind a tensor's name.
func TestDamagedWeightsDoNotPanic(t *testing.T) {
	weights, rnd := unpacked(t), rand.New(rand.NewPCG(1, 2))
	refused := 0
	for i := range 30 {
		at := rnd.IntN(100_000)
		if i%2 == 0 {
			name := []string{"emb", "timing", "l0.qkv.w", "l1.ff2.b", "head.w"}[rnd.IntN(5)]
			at = strings.Index(weights, name) + len(name) + rnd.IntN(9)
		}
		if _, err := loadFile(t, weights[:at]+string(rune(rnd.IntN(128)))+weights[at+1:]); err != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no damage was seen")
	}
	t.Logf("%d of 30 refused", refused)
}

// TestDamageAmongPieces: what is wrong with a piece's vector is seen by a text that has the piece, each time, and by no other.
func TestDamageAmongPieces(t *testing.T) {
	m, err := load(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	const there = 5000
	m.pieces.at = m.pieces.file.Len() - there*width // so the vectors of the pieces after the first 5000 are not there
	const good, bad = "the build failed", "the 鸚 failed: €"
	if slices.Max(m.Tokens(good)) >= there || slices.Max(m.Tokens(bad)) < there {
		t.Fatalf("the pieces are %v and %v", m.Tokens(good), m.Tokens(bad))
	}
	for range 2 {
		if v, err := m.Embed(good, bad, good); !errors.Is(err, errFormat) || v != nil {
			t.Errorf("a text without vectors has one: %v", err)
		}
	}
	if v, err := m.Embed(good); err != nil || v[0] == nil {
		t.Errorf("%q has no vector: %v", good, err)
	}
}
