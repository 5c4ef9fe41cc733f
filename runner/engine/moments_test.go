package engine_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/runner/engine/sim"
)

// TestDeathAtEveryMoment kills the driver of each pattern and construct, in virtual time, at its first opportunity, its second,
// and so on until it lives to the end: before a commit, after it, among the commands (at two places that chance picks). It must
// end as it does undisturbed.
func TestDeathAtEveryMoment(t *testing.T) {
	files, deaths := 0, 0
	for _, file := range programs(t) {
		p := load(t, file)
		if p.races {
			continue // what ends first depends on when it was started again
		}
		files++
		_, want := p.simulate(t, 1, sim.Faults{})
		for n, died := 1, true; died; n++ {
			for seed := range uint64(2) {
				store := sim.NewStore(seed)
				_, have := p.simulateIn(t, store, sim.Faults{CrashAt: n})
				if d := cmp.Diff(want, have); d != "" {
					t.Errorf("%s, killed at moment %d with seed %d, ends otherwise (-calm +killed):\n%s", filepath.Base(file), n, seed, d)
				}
				died = store.Struck().Crashes > 0
				deaths += store.Struck().Crashes
			}
		}
	}
	t.Logf("%d deaths in %d programs", deaths, files)
	if deaths < 10*files {
		t.Error("too few to mean anything")
	}
}
