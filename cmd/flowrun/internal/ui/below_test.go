package ui

import (
	"fmt"
	"strings"
	"testing"
)

// Runs that were called stand under their callers; those whose caller is not listed stand by themselves.
func TestBelow(t *testing.T) {
	runs := []Listed{{Run: "new"}, {Run: "g", Parent: "c2"}, {Run: "c2", Parent: "old"}, {Run: "c1", Parent: "old"}, {Run: "old"}, {Run: "lost", Parent: "far"}}
	sorted, depths := below(runs)
	var b strings.Builder
	for i, r := range sorted {
		fmt.Fprintf(&b, "%d%s ", depths[i], r.Run)
	}
	if got, want := b.String(), "0new 0old 1c1 1c2 2g 0lost "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
