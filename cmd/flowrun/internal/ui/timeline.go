package ui

import (
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/runner/view"
)

// Timeline writes the critical path of a run, and for what its nodes waited.
func Timeline(t *Term, d *view.TimelineDoc) {
	if len(d.Critical) > 0 {
		t.Printf("critical path\n")
	}
	for _, c := range d.Critical {
		waited := ""
		if rest := c.Seconds - c.Worked; rest >= 0.05 {
			waited = ", waited " + secondsOf(rest)
		}
		t.Printf("  %s  %s%s\n", Clean(c.ID), secondsOf(c.Seconds), waited)
	}
	if len(d.Waits) > 0 {
		t.Printf("waits of all nodes\n")
	}
	for _, kind := range slices.Sorted(maps.Keys(d.Waits)) {
		t.Printf("  %s  %s\n", Clean(kind), secondsOf(d.Waits[kind]))
	}
}

func secondsOf(s float64) string { return Duration(time.Duration(s * float64(time.Second))) }
