package ui

import (
	"fmt"
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
	line := func(name, text string) { t.Printf("%-9s %s\n", name, text) }
	line("entries", fmt.Sprintf("%d, %d of them to be found%s", s.Entries, s.Visible, hiddenOf(&s)))
	line("types", countsLine(s.Types, func(n string) string { return n }))
	line("agents", countsLine(s.Agents, func(n string) string { return n }))
	line("seen by", countsLine(s.Scopes, func(n string) string { return seenBy(entry.Scope(n)) }))
	line("records", fmt.Sprint(s.Records))
	model := "none: found by words"
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

func countsLine(list []MemoryCount, name func(string) string) string {
	parts := make([]string, len(list))
	for i, c := range list {
		parts[i] = fmt.Sprintf("%s %d", Clean(name(c.Name)), c.Entries)
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}
