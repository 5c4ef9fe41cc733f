package memory_test

import (
	"context"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/memory"
	"github.com/flowrun/flowrun/memory/entry"
)

// Who wrote is known, also when nothing is left of it, and also who came to what others had written. A memory without runs has none.
func TestWriters(t *testing.T) {
	ctx := context.Background()
	m := open(t, t.TempDir(), memory.Options{})
	if w, err := m.Writers(ctx); err != nil || len(w.Runs)+len(w.Authors) > 0 {
		t.Fatalf("of an empty memory: %+v, %v", w, err)
	}
	by := func(run string) entry.Entry {
		e := failure("sam", "Mind the ladder.")
		e.By = entry.Source{Run: run, Author: "agent:sam", Trust: entry.ByAgent}
		return e
	}
	first := add(t, m, by("first"))
	if again := add(t, m, by("again")); again[0].ID != first[0].ID {
		t.Fatalf("%+v is not a repeat", again)
	}
	if _, err := m.Revert(ctx, memory.Selector{IDs: []string{first[0].ID}}, person, ""); err != nil {
		t.Fatal(err)
	}
	w, err := m.Writers(ctx)
	if err != nil || !slices.Equal(w.Runs, []string{"again", "first"}) || !slices.Contains(w.Authors, "agent:sam") {
		t.Errorf("%+v, %v", w, err)
	}
}
