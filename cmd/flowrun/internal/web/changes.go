package web

import (
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
)

// changes are what the file of a run is today, beside the definition of the run.
type changes struct {
	*serve.DefinitionChanges
	Texts []textChange
}

// textChange is the difference of a file, line by line.
type textChange struct {
	Name  string
	Lines []diffLine
	Left  int // lines that are left out
}

// diffLine is a line of a difference in the unified form. Class is added, removed, hunk or same.
type diffLine struct{ Class, Text string }

// maxDiff bounds the lines of the difference of a file on a page.
const maxDiff = 2000

func newChanges(d *serve.DefinitionChanges) changes {
	c := changes{DefinitionChanges: d}
	for _, f := range d.Files {
		t := textChange{Name: f.Name}
		for line := range strings.SplitSeq(strings.TrimSuffix(f.Diff, "\n"), "\n") {
			class := "same"
			switch {
			case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
				continue // the heading says it
			case strings.HasPrefix(line, "@@"):
				class = "hunk"
			case strings.HasPrefix(line, "+"):
				class = "added"
			case strings.HasPrefix(line, "-"):
				class = "removed"
			}
			if len(t.Lines) == maxDiff {
				t.Left++
				continue
			}
			t.Lines = append(t.Lines, diffLine{class, ui.CleanLines(line)})
		}
		c.Texts = append(c.Texts, t)
	}
	return c
}
