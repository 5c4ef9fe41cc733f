package vector

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// random gives n unit vectors.
func random(seed uint64, n, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([][]float32, n)
	for i := range out {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32(r.NormFloat64())
		}
		out[i], _ = unit(v, dim)
	}
	return out
}

// both runs a test with chromem-go and with the flat scan.
func both(t *testing.T, f func(t *testing.T, x *index)) {
	t.Run("chromem", func(t *testing.T) { f(t, newIndex(0, Limit)) })
	t.Run("flat", func(t *testing.T) { f(t, newIndex(0, 0)) })
}

func fill(t testing.TB, x Index, vectors [][]float32) {
	t.Helper()
	for i, v := range vectors {
		if err := x.Add(fmt.Sprint("v", i), v); err != nil {
			t.Fatal(err)
		}
	}
}

// cosines are those of all vectors of an index with another, by id.
func cosines(t testing.TB, x Index, v []float32) map[string]float32 {
	t.Helper()
	out := map[string]float32{}
	err := x.Each(v, func(id string, cosine float32) {
		if _, twice := out[id]; twice {
			t.Errorf("%s is told twice", id)
		}
		out[id] = cosine
	})
	if err != nil || len(out) != x.Len() {
		t.Fatalf("%d of %d cosines: %v", len(out), x.Len(), err)
	}
	return out
}

// TestBothAgree compares every cosine to the last bit, at the bounds of the blocks and of the goroutines' shares.
func TestBothAgree(t *testing.T) {
	for _, n := range []int{1, 3, 4, 5, 100, share, share + 1, 2*share + 3} {
		vectors := random(uint64(n), n, 33)
		small, flat := newIndex(0, Limit), newIndex(0, 0)
		fill(t, small, vectors)
		fill(t, flat, vectors)
		if small.small == nil || flat.small != nil {
			t.Fatal("not one of each kind")
		}
		for _, q := range random(7, 3, 33) {
			a, b := cosines(t, small, q), cosines(t, flat, q)
			if len(a) != n || !maps.Equal(a, b) {
				t.Fatalf("%d vectors: chromem-go and the flat scan differ", n)
			}
			for i, v := range vectors {
				if a[fmt.Sprint("v", i)] != Cosine(q, v) {
					t.Fatalf("%d vectors: Cosine differs at %d", n, i)
				}
			}
		}
	}
}

func TestTheLimit(t *testing.T) {
	const limit = 8
	x := newIndex(0, limit)
	vectors := random(1, limit+1, 4)
	fill(t, x, vectors[:limit])
	before := cosines(t, x, vectors[limit])
	if x.small == nil {
		t.Fatal("chromem-go is left at the limit, not above it")
	}
	x.Add("one more", vectors[limit])
	if x.small != nil {
		t.Fatal("chromem-go is still asked above the limit")
	}
	x.Delete("one more")
	after := cosines(t, x, vectors[limit])
	if !maps.Equal(before, after) {
		t.Errorf("before: %v, after: %v", before, after)
	}
}

// Each of the following is something that chromem-go does otherwise.

func TestVectorsThatCannotBeComparedAreRefused(t *testing.T) {
	both(t, func(t *testing.T, x *index) {
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		if err := x.Add("first", []float32{0, 0, 0}); !errors.Is(err, ErrEmpty) { // its length is not that of the index
			t.Errorf("zeros, first of all: %v", err)
		}
		x.Add("good", []float32{0, 1})
		for name, c := range map[string]struct {
			id   string
			v    []float32
			want error
		}{
			"another length": {"a", []float32{1, 2, 3}, ErrLength},
			"no length":      {"a", nil, ErrLength},
			"zeros":          {"a", []float32{0, 0}, ErrEmpty},
			"not a number":   {"a", []float32{nan, 1}, ErrEmpty},
			"infinite":       {"a", []float32{inf, 1}, ErrEmpty},
			"no id":          {"", []float32{1, 0}, ErrNoID},
		} {
			if err := x.Add(c.id, c.v); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			if c.want == ErrNoID {
				continue
			}
			if err := x.Each(c.v, nil); !errors.Is(err, c.want) {
				t.Errorf("a query, %s: %v, want %v", name, err, c.want)
			}
		}
		cosines(t, x, []float32{0, 1}) // fails if one of them got in
	})
}

func TestAnEmptyIndex(t *testing.T) {
	both(t, func(t *testing.T, x *index) {
		cosines(t, x, []float32{1, 0})
		x.Add("a", []float32{1, 0})
		x.Delete("a")
		cosines(t, x, []float32{1, 0})
	})
}

// TestEqualVectorsAreAllTold: among equals chromem-go leaves out others from call to call, if it is asked for fewer than all.
func TestEqualVectorsAreAllTold(t *testing.T) {
	both(t, func(t *testing.T, x *index) {
		for i := range 40 {
			x.Add(fmt.Sprintf("%02d", (i*7)%40), []float32{1, float32(i % 2)}) // two directions, twenty each
		}
		want := cosines(t, x, []float32{1, 0})
		for range 50 {
			if got := cosines(t, x, []float32{1, 0}); !maps.Equal(got, want) {
				t.Fatal(cmp.Diff(want, got))
			}
		}
	})
}

func TestAnIDHasOneVector(t *testing.T) {
	both(t, func(t *testing.T, x *index) {
		x.Add("a", []float32{1, 0})
		x.Add("b", []float32{0, 1})
		x.Add("a", []float32{0, -1})
		if diff := cmp.Diff(map[string]float32{"b": 1, "a": -1}, cosines(t, x, []float32{0, 1})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		x.Delete("no such id")
		x.Delete("a")
		x.Delete("a")
		if left := cosines(t, x, []float32{0, 1}); len(left) != 1 || left["b"] != 1 {
			t.Errorf("after deleting a: %v", left)
		}
	})
}

func TestVectorsAreMadeUnit(t *testing.T) {
	both(t, func(t *testing.T, x *index) {
		given := []float32{3, 4}
		x.Add("a", given)
		if got := cosines(t, x, []float32{0, 10})["a"]; math.Abs(float64(got)-.8) > 1e-6 || given[0] != 3 {
			t.Errorf("%v; the given vector is %v", got, given)
		}
	})
}

func TestTexts(t *testing.T) {
	x := NewTexts(2)
	up, right, down := []float32{0, 1}, []float32{1, 0}, []float32{0, -1}
	check := func(when string, want ...float64) {
		t.Helper()
		got, err := x.Cosines(up)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", when, err, diff)
		}
	}
	check("empty")
	for slot, v := range [][][]float32{
		{up},              // its only sentence
		{right, up, down}, // the best sentence counts
		{down, down},      // below 0 is told too
		{up, nil},         // a sentence without a vector counts 0
		{nil, nil, up},    // and so does a whole without one
		{nil},
	} {
		if err := x.Put(slot, v[0], v[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	check("all", 1, .5, -1, .5, .5, 0)
	x.Put(0, right, up)
	x.Delete(1)
	x.Delete(99)
	check("changed", .5, 0, -1, .5, .5, 0)
	if !x.Has(5) || x.Has(1) || x.Has(99) || x.index.Len() != 6 {
		t.Errorf("it has 5: %v, 1: %v, 99: %v, %d vectors", x.Has(5), x.Has(1), x.Has(99), x.index.Len())
	}
	if w := x.Whole(0); len(w) != 2 || w[0] != 1 || x.Whole(1) != nil || x.Whole(4) != nil {
		t.Errorf("wholes: %v, %v, %v", w, x.Whole(1), x.Whole(4))
	}
	if err := x.Put(2, up, []float32{0, 0}); !errors.Is(err, ErrEmpty) || x.Has(2) {
		t.Errorf("a bad sentence: %v; it is there: %v", err, x.Has(2))
	}
	check("the text with a bad sentence is gone", .5, 0, 0, .5, .5, 0)
}

// BenchmarkIndex prints what all cosines cost, with chromem-go and with the flat scan.
func BenchmarkIndex(b *testing.B) {
	for _, dim := range []int{100, 512} {
		for _, n := range []int{1000, 10000, 35000} {
			vectors := random(1, n, dim)
			for _, kind := range []struct {
				name  string
				limit int
			}{{"chromem", n}, {"flat", 0}} {
				x := newIndex(dim, kind.limit)
				fill(b, x, vectors)
				b.Run(fmt.Sprintf("%d numbers/%d/%s", dim, n, kind.name), func(b *testing.B) {
					for b.Loop() {
						x.Each(vectors[1], func(string, float32) {})
					}
				})
			}
		}
	}
}

// BenchmarkTexts prints what it costs to fill an index with 10,000 texts of three sentences, and to ask it.
func BenchmarkTexts(b *testing.B) {
	for _, dim := range []int{100, 512} {
		vectors := random(1, 1000, dim)
		fill := func() *Texts {
			x := NewTexts(dim)
			for slot := range 10_000 {
				v := func(i int) []float32 { return vectors[(slot*7+i)%len(vectors)] }
				if err := x.Put(slot, v(0), v(1), v(2), v(3)); err != nil {
					b.Fatal(err)
				}
			}
			return x
		}
		b.Run(fmt.Sprintf("%d numbers/fill", dim), func(b *testing.B) {
			for b.Loop() {
				fill()
			}
		})
		b.Run(fmt.Sprintf("%d numbers/ask", dim), func(b *testing.B) {
			x := fill()
			for b.Loop() {
				x.Cosines(vectors[1])
			}
		})
	}
}
