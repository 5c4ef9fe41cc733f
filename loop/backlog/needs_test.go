package backlog

import (
	"slices"
	"strings"
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

// Words such as "waits for" in the middle of prose name no item, unless they are followed by the title of one.
func TestProseNeedsNothing(t *testing.T) {
	list, err := Read([]byte("- [ ] The reply is late, waits for nobody, and ends\n- [ ] It starts - waiting for the next round\n- [ ] Ship, waits for Build the page\n- [ ] Build the page\n- [ ] Test, blocked by the page\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "", list.Items[3].ID, "", "the page"} {
		if have := strings.Join(list.Items[i].Needs, "|"); have != want {
			t.Errorf("%q: %q, want %q", list.Items[i].Title, have, want)
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
