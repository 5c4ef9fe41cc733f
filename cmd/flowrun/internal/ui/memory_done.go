package ui

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
)

// AddedMemory is what became of an entry that was written.
type AddedMemory struct {
	ID string `json:"id"`
	// Known tells that it was there already, Repeat that a learning says the same and was counted once more, and Recalled that
	// the text came from the memory: then nothing was written.
	Known        bool     `json:"known,omitempty"`
	Repeat       bool     `json:"repeat,omitempty"`
	Recalled     bool     `json:"recalled,omitempty"`
	Supersedes   []string `json:"supersedes,omitempty"`
	Linked       []string `json:"linked,omitempty"`       // near repeats
	Consolidated []string `json:"consolidated,omitempty"` // patterns that came of it
}

// Added writes the id of an entry, and to the other stream what else there is to say.
func Added(t, notes *Term, d AddedMemory, asJSON bool) {
	if asJSON {
		_ = WriteJSON(t, d)
		return
	}
	if d.ID != "" {
		t.Printf("%s\n", Clean(d.ID))
	}
	switch {
	case d.Recalled:
		notes.Printf("This text came from the memory itself, and is not written again.\n")
	case d.Known:
		notes.Printf("It was there already.\n")
	case d.Repeat:
		notes.Printf("It was learned before, word for word, and is counted once more.\n")
	}
	if len(d.Linked) > 0 {
		notes.Printf("It says much the same as %s.\n", Clean(strings.Join(d.Linked, ", ")))
	}
	if len(d.Consolidated) > 0 {
		notes.Printf("Learnings that say the same are now %s.\n", Clean(strings.Join(d.Consolidated, ", ")))
	}
}

// Changed says which entries were changed, a line each.
func Changed(t *Term, past string, ids []string, asJSON bool) {
	if asJSON {
		if ids == nil {
			ids = []string{}
		}
		_ = WriteJSON(t, map[string]any{past: ids})
		return
	}
	for _, id := range ids {
		t.Printf("%s %s\n", past, Clean(id))
	}
}

// Consolidated says which patterns are new, and which read otherwise now, with the beginning of what they say.
func Consolidated(t *Term, patterns, reworded []entry.Item, asJSON bool) {
	if asJSON {
		_ = WriteJSON(t, map[string]any{"pattern": idsOf(patterns), "reworded": idsOf(reworded)})
		return
	}
	told := func(past string, items []entry.Item) {
		for i := range items {
			lead, room := past+" "+Clean(items[i].ID)+"  ", ListedCells
			if width := t.bound(); width > 0 {
				room = max(width-Cells(lead), 1)
			}
			t.Printf("%s\n", lead+Truncate(inShort(&items[i]), room))
		}
	}
	told("pattern", patterns)
	told("reworded", reworded)
}

func idsOf(items []entry.Item) []string {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	return ids
}

// ImportedMemory counts what an import did.
type ImportedMemory struct {
	Lines int `json:"lines"` // that are kept, by this import or before it
	Added int `json:"added"` // new entries
	Known int `json:"known"` // that were there already
	// Error says why the rest was not read, "" where all was.
	Error string `json:"error,omitempty"`
}

// Imported says what an import did.
func Imported(t *Term, d ImportedMemory, into string, asJSON bool) {
	if asJSON {
		_ = WriteJSON(t, d)
		return
	}
	text := fmt.Sprintf("added %s to %s", Entries(d.Added), Clean(into))
	if d.Known > 0 {
		text += fmt.Sprintf(", %d were there already", d.Known)
	}
	t.Printf("%s\n", text)
}

// Entries writes a number of entries.
func Entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
