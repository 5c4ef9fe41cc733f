package cache

import (
	"flag"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

var flips = flag.Int("flips", 20, "how many bytes are flipped, and cuts made, each in a file of its own")

const dim = 64

func open(t testing.TB, path string, dim int) *Cache {
	t.Helper()
	c, err := Open(path, "model-1", dim)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Len is how many vectors there are.
func (c *Cache) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.at)
}

// vector is the nth, of length 1.
func vector(n, dim int) []float32 {
	random := rand.New(rand.NewSource(int64(n)))
	v, square := make([]float32, dim), 0.0
	for i := range v {
		v[i] = float32(random.NormFloat64())
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

func key(n int) (k Key) {
	copy(k[:], fmt.Sprintf("key %d", n))
	return k
}

// fill puts vectors from..to-1.
func fill(t testing.TB, c *Cache, from, to, dim int) {
	t.Helper()
	var keys []Key
	var vectors [][]float32
	for n := from; n < to; n++ {
		keys, vectors = append(keys, key(n)), append(vectors, vector(n, dim))
	}
	if err := c.Put(keys, vectors); err != nil {
		t.Fatal(err)
	}
}

// known counts the vectors 0..n-1 that the cache has, each of which must be the right one.
func known(t testing.TB, c *Cache, n int) (count int) {
	t.Helper()
	for i := range n {
		if v, found := c.Get(key(i)); found {
			if count++; !slices.Equal(v, Round(vector(i, dim))) {
				t.Fatalf("vector %d is not the one that was put", i)
			}
		}
	}
	return count
}

func TestGetIsWhatRoundSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors-model-1.bin")
	c := open(t, path, 0)
	fill(t, c, 0, 50, dim)
	if err := c.Put([]Key{key(50)}, [][]float32{nil}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Cache{c, open(t, path, 0), open(t, path, dim)} {
		if n := known(t, c, 50); n != 50 {
			t.Errorf("%d of 50 are known", n)
		}
		if v, found := c.Get(key(50)); v != nil || !found {
			t.Error("that a text has no vector is not known:", v, found)
		}
		if _, found := c.Get(key(51)); found {
			t.Error("a vector that nobody put")
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestRoundingKeepsLengthAndDirection(t *testing.T) {
	for n := range 100 {
		v := vector(n, 512)
		r := Round(v)
		var dot, length float64
		for i := range v {
			dot += float64(v[i]) * float64(r[i])
			length += float64(r[i]) * float64(r[i])
		}
		if math.Abs(length-1) > 1e-5 || dot < 0.9998 {
			t.Fatalf("length %v, cosine %v", math.Sqrt(length), dot)
		}
	}
	if Round(make([]float32, 4)) != nil {
		t.Error("zeros point somewhere")
	}
}

func TestWhatWouldSpoilTheCacheIsRefused(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "v"), dim)
	for name, v := range map[string][]float32{
		"length": make([]float32, dim+1), "NaN": append(make([]float32, dim-1), float32(math.NaN())), "Inf": append(make([]float32, dim-1), float32(math.Inf(1))),
	} {
		if err := c.Put([]Key{key(0), key(1)}, [][]float32{vector(0, dim), v}); err == nil || c.Len() != 0 {
			t.Errorf("%s: %v, %d vectors", name, err, c.Len())
		}
	}
	if err := open(t, filepath.Join(t.TempDir(), "w"), 0).Put([]Key{key(0)}, [][]float32{make([]float32, MaxDim+1)}); err == nil {
		t.Error("a dimension beyond the bound")
	}
}

func TestAFileOfAnotherModelSaysNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v")
	fill(t, open(t, path, dim), 0, 3, dim)
	for _, c := range []struct {
		model string
		dim   int
	}{{"model-2", dim}, {"model-1", dim + 1}} {
		other, err := Open(path, c.model, c.dim)
		if err != nil || other.Len() != 0 {
			t.Fatal(err, other.Len())
		}
		fill(t, other, 0, 1, c.dim)
		other.Close()
		if again := open(t, path, dim); again.Len() != 0 {
			t.Errorf("%v: a vector of another model", c)
		}
	}
}

func TestTheFileHasABound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v")
	c := open(t, path, dim)
	c.limit = 4
	fill(t, c, 0, 4, dim)
	fill(t, c, 4, 6, dim)
	if n := known(t, c, 6); n != 6 {
		t.Errorf("%d of 6 are remembered", n)
	}
	if n := open(t, path, dim).Len(); n != 4 {
		t.Errorf("the file has %d vectors, 4 are allowed", n)
	}
}

// TestProcessesAddToOneFile adds so often at once that two would write to one place if they did not wait for each other.
func TestProcessesAddToOneFile(t *testing.T) {
	const writers, each = 4, 200
	path := filepath.Join(t.TempDir(), "v")
	var wait sync.WaitGroup
	for w := range writers {
		c := open(t, path, dim)
		wait.Go(func() {
			for n := range each {
				fill(t, c, w*each+n, w*each+n+1, dim)
			}
		})
	}
	wait.Wait()
	c := open(t, path, dim)
	if n := known(t, c, writers*each); n != writers*each {
		t.Errorf("%d of %d are known", n, writers*each)
	}
	fill(t, open(t, path, dim), writers*each, writers*each+1, dim)
	if err := c.Refresh(); err != nil || c.Len() != writers*each+1 {
		t.Error(err, c.Len())
	}
}

func TestNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v")
	c := open(t, path, dim)
	if _, found := c.Note("direction"); found {
		t.Error("a note that nobody wrote")
	}
	if err := c.SetNote("direction", []byte("abc")); err != nil {
		t.Fatal(err)
	}
	if b, found := c.Note("direction"); !found || string(b) != "abc" {
		t.Errorf("%q %v", b, found)
	}
	other, err := Open(path, "model-2", dim)
	if err != nil {
		t.Fatal(err)
	}
	if _, found := other.Note("direction"); found {
		t.Error("a note of another model")
	}
	flip(t, path+".direction", 1)
	if _, found := c.Note("direction"); found {
		t.Error("a damaged note")
	}
}

// TestDamageIsALackOfKnowledge flips a byte anywhere, or cuts the file anywhere: what the cache still knows is right, it knows nearly
// all, and it takes more.
func TestDamageIsALackOfKnowledge(t *testing.T) {
	const n = 200
	whole := filepath.Join(t.TempDir(), "v")
	fill(t, open(t, whole, dim), 0, n, dim)
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewSource(1))
	holes := 0
	for i := range 2 * *flips {
		path := filepath.Join(t.TempDir(), "v")
		at, want := random.Intn(len(b)), n-1
		damaged := slices.Clone(b)
		if i%2 == 0 {
			damaged[at] ^= byte(1 + random.Intn(255))
			if at < headerSize {
				want = 0
			}
		} else {
			damaged = damaged[:at]
			want = max(0, at-headerSize) / recordSize(dim)
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		c := open(t, path, dim)
		if have := known(t, c, n); have != want {
			t.Errorf("damage at %d: %d of %d are known, want %d", at, have, n, want)
		} else if have < n {
			holes++
		}
		fill(t, c, 0, n+1, dim)
		if have := known(t, open(t, path, dim), n+1); have != n+1 {
			t.Errorf("damage at %d: %d of %d after they were put again", at, have, n+1)
		}
	}
	if holes != 2**flips {
		t.Errorf("%d of %d damages were felt", holes, 2**flips)
	}
	t.Logf("%d flips and %d cuts, each lost what it hit", *flips, *flips)
}

func flip(t *testing.T, path string, at int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkOpen35000(b *testing.B) {
	path := filepath.Join(b.TempDir(), "v")
	fill(b, open(b, path, 512), 0, 35000, 512)
	for b.Loop() {
		c := open(b, path, 512)
		if c.Len() != 35000 {
			b.Fatal(c.Len())
		}
		c.Close()
	}
}

func BenchmarkGet(b *testing.B) {
	c := open(b, filepath.Join(b.TempDir(), "v"), 512)
	fill(b, c, 0, 1, 512)
	for b.Loop() {
		c.Get(key(0))
	}
}

// A file of somebody else is read, and what is put beside it is there until the end: nothing to complain of.
func TestASealedFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v")
	fill(t, open(t, path, dim), 0, 3, dim)
	c := open(t, path, dim)
	if err := c.file.Close(); err != nil { // as Open leaves it to who may not write, which root always may
		t.Fatal(err)
	}
	var err error
	if c.file, err = os.Open(path); err != nil {
		t.Fatal(err)
	}
	c.sealed = true
	fill(t, c, 3, 5, dim)
	if err := c.SetNote("n", []byte("x")); err != nil {
		t.Error(err)
	}
	for n := range 5 {
		if _, found := c.Get(key(n)); !found {
			t.Errorf("vector %d is gone", n)
		}
	}
	if after := open(t, path, dim); after.Len() != 3 {
		t.Errorf("%d vectors are in the file, 3 were", after.Len())
	}
}
