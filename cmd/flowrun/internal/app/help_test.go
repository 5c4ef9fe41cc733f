package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
)

// The help of every command fits into a terminal and has all of its words.
func TestHelpFitsTheTerminal(t *testing.T) {
	a := &app{Streams: Streams{Stdin: strings.NewReader(""), Stdout: &strings.Builder{}, Stderr: &strings.Builder{}}}
	a.openTerminals()
	commands := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		commands++
		text := helpOf(c)
		for _, width := range []int{60, 80, 120} {
			shown := ui.Fit(text, width)
			for l := range strings.Lines(shown) {
				if l = strings.TrimRight(l, "\n"); ui.Cells(l) > width && strings.Contains(strings.TrimSpace(l), " ") {
					t.Errorf("flowrun %s --help at %d columns has a line of %d: %s", c.CommandPath(), width, ui.Cells(l), l)
				}
			}
			if !slices.Equal(strings.Fields(shown), strings.Fields(text)) {
				t.Errorf("the help of %s at %d columns has other words", c.CommandPath(), width)
			}
		}
		for _, c := range c.Commands() {
			walk(c)
		}
	}
	walk(a.newRootCommand())
	if commands < 50 {
		t.Errorf("%d commands", commands)
	}
}
