package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/memory/entry"
)

// MemoryStats are the counts of a memory. Reverted entries are in Reverted alone.
type MemoryStats struct {
	Entries    int           `json:"entries"`
	Visible    int           `json:"visible"`
	Superseded int           `json:"superseded"`
	Archived   int           `json:"archived"`
	Working    int           `json:"working"`
	Forgotten  int           `json:"forgotten"`
	Pinned     int           `json:"pinned"`
	Reverted   int           `json:"reverted"`
	Types      []MemoryCount `json:"types"`
	Agents     []MemoryCount `json:"agents"`
	Scopes     []MemoryCount `json:"scopes"`
	Records    uint64        `json:"records"`
	// Model is that of the embedder that was asked for, "" for none; Pending are the entries that have no vectors of it yet.
	Model       string `json:"model"`
	Dim         int    `json:"dim"` // 0 where nobody knows before a server's first answer
	WordVectors bool   `json:"word_vectors"`
	Pending     int    `json:"pending"`
}

// MemoryCount is how many entries something has.
type MemoryCount struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"`
}

// MemoryCounts writes the counts of a memory.
func MemoryCounts(t *Term, s MemoryStats, asJSON bool) {
	if asJSON {
		_ = WriteJSON(t, s)
		return
	}
	line := func(name, text string) {
		t.Printf("%-9s %s\n", name, wrapped(text, t.bound(), strings.Repeat(" ", 10)))
	}
	line("entries", fmt.Sprintf("%d, %d of them searchable%s", s.Entries, s.Visible, hiddenOf(&s)))
	line("types", countsLine(s.Types))
	line("agents", countsLine(s.Agents))
	line("seen by", countsLine(sights(s.Scopes)))
	line("records", fmt.Sprint(s.Records))
	model := "none: search by words only"
	if s.Model != "" {
		model = Clean(s.Model)
		if s.Dim > 0 {
			model += fmt.Sprintf(", %d numbers", s.Dim)
		}
		if s.Pending > 0 {
			model += ", " + Entries(s.Pending) + " without a vector of it yet"
		}
	}
	if s.WordVectors {
		model += "; word vectors"
	}
	line("embedder", model)
}

// hiddenOf says what of the entries is special.
func hiddenOf(s *MemoryStats) string {
	text := ""
	for _, c := range []MemoryCount{{"pinned", s.Pinned}, {"superseded", s.Superseded}, {"archived", s.Archived}, {"at work", s.Working},
		{"forgotten", s.Forgotten}, {"reverted beside them", s.Reverted}} {
		if c.Entries > 0 {
			text += fmt.Sprintf("; %d %s", c.Entries, c.Name)
		}
	}
	return text
}

// MaxCounted is how many names a line of counts has: those with most entries, of many.
const MaxCounted = 20

// sights are who sees how many, with all runs in one, as there are more of them each day.
func sights(scopes []MemoryCount) (list []MemoryCount) {
	var runs []MemoryCount
	entries := 0
	for _, c := range scopes {
		named := MemoryCount{seenBy(entry.Scope(c.Name)), c.Entries}
		if strings.HasPrefix(c.Name, "run:") {
			runs, entries = append(runs, named), entries+c.Entries
		} else {
			list = append(list, named)
		}
	}
	if len(runs) > 1 {
		runs = []MemoryCount{{fmt.Sprintf("one of %d runs", len(runs)), entries}}
	}
	return append(list, runs...)
}

func countsLine(list []MemoryCount) string {
	if len(list) == 0 {
		return "-"
	}
	more := len(list) - MaxCounted
	if more > 0 {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b MemoryCount) int { return cmp.Compare(b.Entries, a.Entries) })
		list = list[:MaxCounted]
	}
	parts := make([]string, len(list))
	for i, c := range list {
		parts[i] = fmt.Sprintf("%s %d", Clean(c.Name), c.Entries)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}
