package ui

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/event"
)

// As many entries are named as fit, and the others are counted.
func TestRecalledNamesAFew(t *testing.T) {
	for n, more := range map[int]bool{MaxRecalledShown: false, MaxRecalledShown + 1: true} {
		list := make([]event.Recalled, n)
		for i := range list {
			list[i] = event.Recalled{ID: "M-1", Type: "insight"}
		}
		got := recalled(list)
		if strings.Count(got, "M-1 (insight)") != MaxRecalledShown || strings.HasSuffix(got, ", 1 more") != more {
			t.Errorf("%d entries: %s", n, got)
		}
	}
}
