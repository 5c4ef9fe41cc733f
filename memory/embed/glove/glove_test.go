package glove

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func load(t testing.TB) *Words {
	t.Helper()
	w, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFile keeps the file that WEIGHTS.md tells how to make.
func TestFile(t *testing.T) {
	sum := sha256.Sum256([]byte(file))
	if got := hex.EncodeToString(sum[:]); got != "fb848f467e393c1a0ee6f4cbc69f2663ee134ca7dee266ca9affa276c04ae89f" {
		t.Errorf("the file has the sum %s", got)
	}
	w := load(t)
	if len(w.words) != 30_000 {
		t.Errorf("%d words", len(w.words))
	}
	for i := range w.words {
		if found, _ := w.look(w.word(i)); found != i+1 {
			t.Fatalf("the word of rank %d, %q, is found at %d", i, w.word(i), found-1)
		}
	}
}

func TestDamagedFile(t *testing.T) {
	for _, n := range []int{0, 7, 8, 15, 16, 17, 100, 10_000, len(file) - 1} {
		if _, err := read(file[:n]); err == nil {
			t.Errorf("a file of %d bytes is read", n)
		}
	}
	for _, at := range []int{0, 6, 11, 12} {
		if _, err := read(file[:at] + "\xee" + file[at+1:]); err == nil {
			t.Errorf("a file with another byte at %d is read", at)
		}
	}
}

func cosine(w *Words, a, b string) float64 {
	d := w.Fit(nil)
	return float64(dot(Without(w.Mean(a), d), Without(w.Mean(b), d)))
}

func TestOtherWordsForTheSameAreNear(t *testing.T) {
	w := load(t)
	const q = "the database server crashed"
	near, far := cosine(w, q, "a computer failed"), cosine(w, q, "she painted a beautiful sunset")
	if near < far+0.2 {
		t.Errorf("near %.3f, far %.3f", near, far)
	}
	if c := cosine(w, "deploy failed", "failed: deploy!"); c < 0.9999 {
		t.Errorf("the same words have the cosine %.4f", c)
	}
}

func TestTextsWithoutKnownWords(t *testing.T) {
	w := load(t)
	for _, s := range []string{"", " \n", "…", "xqzzyv", "\xff\xfe", "日本語"} {
		if m := w.Mean(s); m != nil || Without(m, w.Fit(nil)) != nil {
			t.Errorf("%q has a vector", s)
		}
	}
	if w.Mean("xqzzyv database") == nil {
		t.Error("an unknown word hides a known one")
	}
}

// texts are n texts of random words.
func texts(w *Words, n int) [][]float32 {
	var list []string
	for i := range w.words {
		list = append(list, w.word(i))
	}
	slices.Sort(list)
	rnd := rand.New(rand.NewPCG(1, 2))
	out := make([][]float32, n)
	for i := range out {
		var s []string
		for range 12 {
			s = append(s, list[rnd.IntN(len(list))])
		}
		out[i] = w.Mean(strings.Join(s, " "))
	}
	return out
}

func TestFitAtItsBound(t *testing.T) {
	w := load(t)
	means := texts(w, LeastFit)
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
	means := texts(w, 300)
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
	m, d := w.Mean("retry the request with backoff"), w.Fit(nil)
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
		if _, err := read(file); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMean(b *testing.B) {
	w := load(b)
	for b.Loop() {
		w.Mean("The build failed because the database migration timed out after thirty seconds on the staging host.")
	}
}

func BenchmarkFit(b *testing.B) {
	w := load(b)
	for _, n := range []int{1000, 10_000} {
		means := texts(w, n)
		b.Run(fmt.Sprint("texts=", n), func(b *testing.B) {
			for b.Loop() {
				w.Fit(means)
			}
		})
	}
}
