package doctor

import (
	"errors"
	"testing"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/runner/engine"
)

// What doctor tells of a store is bounded, and each problem comes with what mends it.
func TestHealthIsTold(t *testing.T) {
	h := engine.Health{Runs: 200, Checked: 100, Database: "page 7", Dead: []int64{1, 2}, Log: MaxLog + 1, Reserve: engine.Reserve{Made: true}}
	for range MaxTold + 2 {
		h.Broken = append(h.Broken, engine.Broken{Run: "abc", Err: errors.New("broken")})
	}
	count := map[ui.Level]int{}
	for _, f := range aboutHealth(&h, "/store", "") {
		count[f.Level]++
		if f.Level == ui.Wrong && f.Fix == "" {
			t.Errorf("no way out of %+v", f)
		}
	}
	if count[ui.Wrong] != 1+MaxTold || count[ui.Odd] != 4 || count[ui.Fine] != 2 {
		t.Errorf("%v: %+v", count, aboutHealth(&h, "/store", ""))
	}
	h = engine.Health{Runs: 9, Checked: 9, Snapshots: MaxTold + 2, Odd: h.Broken}
	odd := 0
	for _, f := range aboutHealth(&h, "/store", "") {
		if f.Level == ui.Odd && f.Fix != "" {
			odd++
		}
	}
	if odd != MaxTold {
		t.Errorf("of %d snapshots of no use %d are told", len(h.Odd), odd)
	}
	h = engine.Health{Runs: 1, Checked: 1, Log: MaxLog, Snapshots: 1}
	for _, f := range aboutHealth(&h, "/store", "") {
		if f.Level != ui.Fine {
			t.Errorf("%+v", f)
		}
	}
}
