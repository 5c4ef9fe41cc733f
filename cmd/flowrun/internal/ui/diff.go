package ui

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff writes the difference of two versions of a file in the unified form, for patch -p1 and git apply; nothing where
// there is none. On a terminal what cannot be seen is written as an escape.
func Diff(t *Term, name string, old, text []byte) {
	DiffText(t, string(diff.Diff("old/"+name, old, "new/"+name, text)))
}

// DiffText writes a difference in the unified form, as Diff does.
func DiffText(t *Term, out string) {
	if !t.Live && !t.Color {
		t.Raw([]byte(out))
		return
	}
	for _, line := range strings.SplitAfter(out, "\n") {
		body, end := strings.CutSuffix(line, "\n")
		style := ""
		switch {
		case strings.HasPrefix(body, "-"):
			style = red
		case strings.HasPrefix(body, "+"):
			style = green
		case strings.HasPrefix(body, "@@"):
			style = cyan
		}
		t.Printf("%s", t.Style(style, Clean(body)))
		if end {
			t.Printf("\n")
		}
	}
}
