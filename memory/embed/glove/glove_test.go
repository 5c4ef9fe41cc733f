package glove

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/embed/pack"
)

func load(t testing.TB) *Words {
	t.Helper()
	w, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

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

func mean(t testing.TB, w *Words, s string) []float32 {
	t.Helper()
	v, err := w.Mean(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFile keeps the file that WEIGHTS.md tells how to make.
func TestFile(t *testing.T) {
	sum := sha256.Sum256([]byte(unpacked(t)))
	if got := hex.EncodeToString(sum[:]); got != "8711aea92e925908b1b8f9b1b30c2a0f296d2c220bc79e5bb0052847d7d2a322" {
		t.Errorf("the file has the sum %s", got)
	}
	w := load(t)
	if w.list.Len() != 30_000 {
		t.Errorf("%d words", w.list.Len())
	}
	for i := range w.list.Len() {
		if found, ok := w.find(w.list.Word(i)); !ok || found != i {
			t.Fatalf("the word of rank %d, %q, is found at %d", i, w.list.Word(i), found)
		}
	}
}

// TestCommonDirection computes the direction of English text that the file has: each word weighs by how often it stands there, and
// by how much it counts then.
func TestCommonDirection(t *testing.T) {
	w := load(t)
	v := make([]float32, Dim)
	for i := range w.list.Len() {
		p := w.share(i)
		if err := w.addTo(v, i, p*rarity/(rarity+p)); err != nil {
			t.Fatal(err)
		}
	}
	if unit(v); !slices.Equal(v, w.common) {
		t.Errorf("it is %v, not %v", w.common, v)
	}
}

func TestDamagedFile(t *testing.T) {
	file := unpacked(t)
	read := func(file string) (*Words, error) {
		b, err := pack.Pack([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		return read(b, nil)
	}
	for _, n := range []int{0, 7, 8, 15, 16, 17, 100, 10_000, 40_000, 300_000, len(file) - 1} {
		if _, err := read(file[:n]); !errors.Is(err, errFormat) {
			t.Errorf("a file of %d bytes: %v", n, err)
		}
	}
	for _, at := range []int{0, 6, 11, 12, 16 + 4*Dim} {
		if _, err := read(file[:at] + "\xee" + file[at+1:]); !errors.Is(err, errFormat) {
			t.Errorf("a file with another byte at %d: %v", at, err)
		}
	}
	if _, err := read(file + "x"); !errors.Is(err, errFormat) {
		t.Errorf("a file with a byte too many: %v", err)
	}
}

// TestDamagedVector: what is wrong with a word's vector is seen by a text that has the word, each time, and by no other.
func TestDamagedVector(t *testing.T) {
	w, err := read(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	const there = 20_000
	w.at = w.file.Len() - there*Dim // so the vectors of the words after the first 20,000 are not there
	bad := "the " + w.list.Word(there)
	for range 2 {
		if v, err := w.Mean(bad); !errors.Is(err, errFormat) || v != nil {
			t.Errorf("%q has a mean: %v", bad, err)
		}
	}
	if v, err := w.Mean("the " + w.list.Word(there-1)); err != nil || v == nil {
		t.Errorf("the last word that is there has no mean: %v", err)
	}
}

func cosine(t testing.TB, w *Words, a, b string) float64 {
	d := w.Fit(nil)
	return float64(dot(Without(mean(t, w, a), d), Without(mean(t, w, b), d)))
}

func TestOtherWordsForTheSameAreNear(t *testing.T) {
	w := load(t)
	const q = "the database server crashed"
	near, far := cosine(t, w, q, "a computer failed"), cosine(t, w, q, "she painted a beautiful sunset")
	if near < far+0.2 {
		t.Errorf("near %.3f, far %.3f", near, far)
	}
	if c := cosine(t, w, "deploy failed", "failed: deploy!"); c < 0.9999 {
		t.Errorf("the same words have the cosine %.4f", c)
	}
}

func TestTextsWithoutKnownWords(t *testing.T) {
	w := load(t)
	for _, s := range []string{"", " \n", "…", "xqzzyv", "\xff\xfe", "日本語"} {
		if m := mean(t, w, s); m != nil || Without(m, w.Fit(nil)) != nil {
			t.Errorf("%q has a vector", s)
		}
	}
	if mean(t, w, "xqzzyv database") == nil {
		t.Error("an unknown word hides a known one")
	}
}

// texts are n texts of random words.
func texts(t testing.TB, w *Words, n int) [][]float32 {
	var list []string
	for i := range w.list.Len() {
		list = append(list, w.list.Word(i))
	}
	slices.Sort(list)
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([][]float32, n)
	for i := range out {
		var s []string
		for range 12 {
			s = append(s, list[rnd.IntN(len(list))])
		}
		out[i] = mean(t, w, strings.Join(s, " "))
	}
	return out
}

func TestFitAtItsBound(t *testing.T) {
	w := load(t)
	means := texts(t, w, LeastFit)
	fixed := w.Fit(nil)
	if got := w.Fit(append(means[:LeastFit-1:LeastFit-1], nil, nil)); !slices.Equal(got, fixed) {
		t.Error("49 texts have a direction of their own")
	}
	got := w.Fit(means)
	if slices.Equal(got, fixed) {
		t.Error("50 texts have the fixed direction")
	}
	if again := w.Fit(means); !slices.Equal(again, got) {
		t.Error("the same texts have two directions")
	}
	fixed[0] = 7
	if w.Fit(nil)[0] == 7 {
		t.Error("the fixed direction can be changed by a caller")
	}
}

// TestFitIsTheFirstDirection looks whether another round would still move it, and whether the means are shortest without it.
func TestFitIsTheFirstDirection(t *testing.T) {
	w := load(t)
	means := texts(t, w, 300)
	d := w.Fit(means)
	left := func(d []float32) (sum float64) {
		for _, m := range means {
			p := float64(dot(m, d))
			sum += float64(dot(m, m)) - p*p
		}
		return sum
	}
	next := make([]float32, Dim)
	for _, m := range means {
		addScaled(next, m, dot(m, d))
	}
	unit(next)
	if c := float64(dot(next, d)); c < 0.9999 {
		t.Errorf("another round moves the direction: cosine %.6f", c)
	}
	if left(d) > left(w.Fit(nil)) {
		t.Error("the fixed direction takes more out than the fitted one")
	}
}

func TestWithout(t *testing.T) {
	w := load(t)
	m, d := mean(t, w, "retry the request with backoff"), w.Fit(nil)
	before := slices.Clone(m)
	v := Without(m, d)
	if n := math.Sqrt(float64(dot(v, v))); math.Abs(n-1) > 1e-5 {
		t.Errorf("the vector is %v long", n)
	}
	if p := dot(v, d); math.Abs(float64(p)) > 1e-5 {
		t.Errorf("%v of the direction is left", p)
	}
	if !slices.Equal(m, before) {
		t.Error("the mean was changed")
	}
	if Without(d, d) != nil || Without(make([]float32, Dim), d) != nil {
		t.Error("nothing is left, and it has a vector")
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := read(packed, room[:]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMean(b *testing.B) {
	w := load(b)
	for b.Loop() {
		mean(b, w, "The build failed because the database migration timed out after thirty seconds on the staging host.")
	}
}

func BenchmarkFit(b *testing.B) {
	w := load(b)
	for _, n := range []int{1000, 10_000} {
		means := texts(b, w, n)
		b.Run(fmt.Sprint("texts=", n), func(b *testing.B) {
			for b.Loop() {
				w.Fit(means)
			}
		})
	}
}
