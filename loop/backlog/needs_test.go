package backlog

import (
	"slices"
	"testing"
)

func TestNeeds(t *testing.T) {
	for source, want := range map[string][]string{
		"Text.\n\nDepends on #12, #13 and #14.":                       {"12", "13", "14"},
		"- [ ] a\n- blocked by #7\n\nDepends-on: #8":                  {"7", "8"},
		"## Blocked by\n\n- #1 the first\n- [ ] #2\n\n## Notes\n- #3": {"1", "2"},
		"Dependencies:\n\n* #4\n":                                     {"4"},
		"> depends on #1\n\n`depends on #2`\n\n    depends on #3":     nil,
		"<!-- depends on #1 -->\nSee #2. Fixes #3. After all, #4.":    nil,
		"It depends on the weather.":                                  nil,
	} {
		if have := Needs(source); !slices.Equal(have, want) {
			t.Errorf("%q: %q, want %q", source, have, want)
		}
	}
}

func TestLabelPriority(t *testing.T) {
	for label, want := range map[string]int{"P1": 2, "p0": 3, "priority: high": 2, "Priority/Critical": 3, "prio-low": -1, "high priority": 2, "urgent": 3, "priority:1": 2} {
		if have := LabelPriority(label); have == nil || *have != want {
			t.Errorf("%q: %v, want %d", label, have, want)
		}
	}
	for _, label := range []string{"bug", "a", "c", "5", "2024", "", "good first issue", "prioritized"} {
		if have := LabelPriority(label); have != nil {
			t.Errorf("%q: %d", label, *have)
		}
	}
}
