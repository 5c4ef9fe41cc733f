package memory

import (
	"cmp"
	"math/rand"
	"slices"
	"testing"
)

func TestNearestIsASort(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	for range 200 {
		var n nearest
		of := map[*doc]float64{}
		var all []*doc
		for range random.Intn(30) {
			d := &doc{}
			of[d], all = float64(random.Intn(5)), append(all, d)
			n.add(d, of[d])
		}
		slices.SortStableFunc(all, func(a, b *doc) int { return cmp.Compare(of[b], of[a]) })
		if want := all[:min(len(all), olderEach)]; !slices.Equal(n.docs, want) {
			t.Fatalf("of %d entries it took others than a stable sort", len(all))
		}
	}
}
