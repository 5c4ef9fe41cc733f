package args

import (
	"testing"
	"time"
)

func TestPruneAges(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute,
		"36500d": maxDays * 24 * time.Hour, "36501d": 0, "0d": 0, "-1h": 0, "d": 0, "soon": 0, "1e9d": 0} {
		p := Prune{Keep: -1, OlderThan: text}
		if err := p.Check(); p.Age != want || (err == nil) != (want > 0) {
			t.Errorf("%s is %s: %v", text, p.Age, err)
		}
	}
	for keep, ok := range map[int]bool{-1: false, -2: false, 0: true, 5: true} {
		if err := (&Prune{Keep: keep}).Check(); (err == nil) != ok {
			t.Errorf("--keep %d: %v", keep, err)
		}
	}
}
