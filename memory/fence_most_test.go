package memory

import (
	"context"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/memory/entry"
	"github.com/flowrun/flowrun/memory/text"
)

// A recall has at most as many entries as are asked for, and a fence is never above its budget.
func TestRecallKeepsItsNumber(t *testing.T) {
	m, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx := context.Background()
	for _, n := range []string{"one", "two", "three", "four"} {
		if _, err := m.Add(ctx, entry.Entry{Text: "The billing service needs port " + n + " for its tests.", By: entry.Source{Trust: entry.ByPerson}}); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]int{0: 4, 1: 1, 3: 3, 9: 4} {
		got, err := m.Recall(ctx, Ask{Task: "The billing service needs its port for its tests.", Most: most})
		if err != nil || len(got.IDs) != want {
			t.Errorf("most %d: %d entries: %v", most, len(got.IDs), err)
		}
	}
	hits, err := m.Search(ctx, Query{Text: "billing service port"})
	if err != nil || len(hits) != 4 {
		t.Fatal(len(hits), err)
	}
	for _, budget := range []int{0, 1, 40, 80, 1000} {
		if f := Fence(hits, budget); text.Tokens(f) > budget || budget == 1000 && strings.Count(f, "[M-") != 4 {
			t.Errorf("budget %d: %q", budget, f)
		}
	}
}
