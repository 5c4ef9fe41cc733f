package floor

import (
	"slices"
	"testing"
)

// The nearest are the greatest products, in order, also where there are more of them than are kept.
func TestNearest(t *testing.T) {
	all := make([]float32, 0, 40)
	for _, v := range []float32{3, 11, 1, 12, 5, 4, 2, 8, 7, 6, 10, 9} {
		all = append(all, v, 0, 0, 0, 0)
	}
	at := nearest(all, []float32{1, 5, 0, 0, 7})
	if want := []int{3, 1, 10, 11, 7, 8, 9, 4, 5, 0}; !slices.Equal(at[:], want) {
		t.Errorf("%v, want %v", at, want)
	}
}
