package process

import (
	"math"
	"testing"
)

// TestCollectorRules is what the runtime is told at each bound of what is live.
func TestCollectorRules(t *testing.T) {
	c := collector{limit: 40, enough: 30, plenty: 100, percent: 100}
	for live, want := range map[int64]rule{
		0: {200, 40}, 29: {200, 40}, 30: {200, math.MaxInt64}, 99: {200, math.MaxInt64}, 100: {100, math.MaxInt64},
	} {
		if have := c.rule(live); have != want {
			t.Errorf("with %d live: %v, want %v", live, have, want)
		}
	}
	c = collector{limit: 40, small: 5, enough: 30, percent: 50} // without plenty
	for live, want := range map[int64]rule{4: {800, 40}, 5: {200, 40}, 29: {200, 40}, 30: {50, math.MaxInt64}} {
		if have := c.rule(live); have != want {
			t.Errorf("a check with %d live: %v, want %v", live, have, want)
		}
	}
}
