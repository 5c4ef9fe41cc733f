package process

import (
	"math"
	"testing"
)

// TestCollectorRules is what the runtime is told at each bound of what is live and of what is around the heap.
func TestCollectorRules(t *testing.T) {
	c := collector{limit: 400, plenty: 1000, percent: 100}
	for _, x := range []struct {
		live, around int64
		want         rule
	}{
		{0, 0, rule{200, 400}},
		{139, 120, rule{200, 400}}, // 278 of 280
		{140, 120, rule{tight, math.MaxInt64}},
		{140, 119, rule{200, 400}},
		{0, 400, rule{tight, math.MaxInt64}},
		{399, 0, rule{tight, math.MaxInt64}},
		{400, 0, rule{200, math.MaxInt64}},
		{999, 0, rule{200, math.MaxInt64}},
		{1000, 0, rule{100, math.MaxInt64}},
	} {
		if have := c.rule(x.live, x.around); have != x.want {
			t.Errorf("with %d live and %d around: %v, want %v", x.live, x.around, have, x.want)
		}
	}
	c = collector{limit: 400, small: 50, percent: 50} // without plenty
	for live, want := range map[int64]rule{49: {800, 400}, 50: {200, 400}, 399: {tight, math.MaxInt64}, 400: {50, math.MaxInt64}} {
		if have := c.rule(live, 0); have != want {
			t.Errorf("a check with %d live: %v, want %v", live, have, want)
		}
	}
}

// TestHeapIsCounted: every figure has a name that the runtime knows, and the parts are no more than the whole.
func TestHeapIsCounted(t *testing.T) {
	held := make([]byte, 32<<20)
	live, around := heap()
	if live < 0 || around <= 0 || around >= int64(len(held)) {
		t.Errorf("%d bytes live and %d around the heap, with %d held", live, around, len(held))
	}
}
