package memory

import (
	"errors"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/memory/entry"
)

// A word is an id, or begins one: never two, and never an id that was reverted.
func TestFindIDs(t *testing.T) {
	m, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	by := entry.Source{Source: "cli", Author: "user:a", Trust: entry.ByPerson}
	for _, id := range []string{"ab", "abc", "abd", "xyz", "xgone"} {
		if _, err := m.Add(t.Context(), entry.Entry{ID: id, Type: entry.Note, Text: "about " + id, By: by}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Revert(t.Context(), Selector{IDs: []string{"xgone"}}, by, ""); err != nil {
		t.Fatal(err)
	}
	if have, err := m.FindIDs(t.Context(), []string{"ab", "x", "none", "", "xgone"}); err != nil || !slices.Equal(have, []string{"ab", "xyz", "none", "", "xgone"}) {
		t.Errorf("%q, %v", have, err)
	}
	_, err = m.FindIDs(t.Context(), []string{"xyz", "a"})
	var many *AmbiguousID
	if !errors.As(err, &many) || many.Word != "a" || !slices.Equal(many.IDs, []string{"ab", "abc", "abd"}) {
		t.Errorf("%v", err)
	}
}
