package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/memory/entry"
)

// Found is one result of a search.
type Found struct {
	Item  entry.Item
	Score float64
	Parts Parts // shown where there are any
}

// FoundText writes the results of a search for a person, best first.
func FoundText(t *Term, found []Found, now time.Time) {
	const lead = "       "
	width := t.bound()
	for i := range found {
		f := &found[i]
		t.Printf("%s  %s\n", t.Style(bold, fmt.Sprintf("%.3f", f.Score)), cut(Clean(f.Item.ID)+"  "+about(&f.Item, now), width-len(lead)))
		for _, text := range said(&f.Item) {
			for _, line := range folded(text, width-len(lead), FoldedLines) {
				t.Printf("%s%s\n", lead, line)
			}
		}
		if len(f.Parts) > 0 {
			for _, line := range folded(f.Parts.String(), width-len(lead), FoldedLines) {
				t.Printf("%s%s\n", lead, t.Style(dim, line))
			}
		}
	}
}

// FoldedLines is how many lines of a terminal a text of a result takes at the most: memory show has it whole. ListedCells is what a
// list shows of a text where nobody looks at a screen.
const (
	FoldedLines = 3
	ListedCells = 200
)

// bound is how many columns a line may take: 0 is not a bound, where nobody looks at a screen.
func (t *Term) bound() int {
	if !t.Live {
		return 0
	}
	columns, _ := t.Size()
	return columns
}

// cut cuts a line at a width below 1 not at all: a pipe gets the whole text.
func cut(line string, width int) string {
	if width < 1 {
		return line
	}
	return Truncate(line, width)
}

// folded breaks a line at blanks, into at most so many of a width; a width below 1 breaks nothing.
func folded(line string, width, most int) (lines []string) {
	for width > 0 && Cells(line) > width && len(lines) < most-1 {
		at := fitting(line, width)
		if blank := strings.LastIndexByte(line[:at], ' '); blank > 0 && line[at] != ' ' {
			at = blank
		}
		lines = append(lines, strings.TrimRight(line[:at], " "))
		line = strings.TrimLeft(line[at:], " ")
	}
	return append(lines, cut(line, width))
}

// fitting is how many bytes of a line too long for a width stand in it: whole characters, and one at least.
func fitting(line string, width int) int {
	cells := 0
	for i, r := range line {
		if cells += runeCells(r); cells > width && i > 0 {
			return i
		}
	}
	return len(line)
}

// about says of an entry what stands beside its text: kind, whose, age, and what makes it special.
func about(i *entry.Item, now time.Time) string {
	kind := string(i.Kind())
	if i.Agent != "" {
		kind += " of " + i.Agent
	}
	parts := []string{kind, Ago(i.CreatedAt, now)}
	if i.Count > 1 {
		parts = append(parts, fmt.Sprintf("seen %d times", i.Count))
	}
	return Clean(strings.Join(append(parts, marks(i)...), ", "))
}

// marks are the words for what is not usual of an entry.
func marks(i *entry.Item) (list []string) {
	add := func(is bool, word string) {
		if is {
			list = append(list, word)
		}
	}
	add(i.Pinned, "pinned")
	add(i.Conflict, "contradictory")
	add(i.SupersededBy != "", "superseded by "+i.SupersededBy)
	add(i.Archived, "archived")
	add(i.Forgotten, "forgotten")
	add(i.Reverted, "reverted")
	return list
}

// said are the texts of an entry, a line each: its text, or the lesson first and then where it was learned.
func said(i *entry.Item) (lines []string) {
	for _, s := range []string{i.Text, i.Lesson, i.Observation, i.Context} {
		if line := flat(s); line != "" {
			lines = append(lines, line)
		}
	}
	return append(lines, tags(i)...)
}

func tags(i *entry.Item) []string {
	if len(i.Tags) == 0 {
		return nil
	}
	return []string{Clean("#" + strings.Join(i.Tags, " #"))}
}

// flat writes a text in one line: runs of blanks, tabs and newlines become a blank.
func flat(s string) string { return Clean(strings.Join(strings.Fields(s), " ")) }

// Ago says how long ago something was, or its day where that was long ago or is yet to come.
func Ago(at, now time.Time) string {
	const day = 24 * time.Hour
	switch d := now.Sub(at); {
	case d < 0, d >= 60*day:
		return at.UTC().Format(time.DateOnly)
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	default:
		return fmt.Sprintf("%dd ago", d/day)
	}
}
