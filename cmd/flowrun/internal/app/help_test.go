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

// TestOneCommandAlone: a process makes the command that its line begins with, under each of its names, and that one is found.
func TestOneCommandAlone(t *testing.T) {
	whole := new(app).newRootCommand()
	for _, c := range whole.Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		for _, name := range append([]string{c.Name()}, c.Aliases...) {
			root := new(app).newRoot(nameAsked([]string{name}))
			if n := len(root.Commands()); n != 1 {
				t.Errorf("for %s the root has %d commands", name, n)
			}
			if found, _, err := root.Find([]string{name}); err != nil || found.Name() != c.Name() {
				t.Errorf("for %s the root has %v, %v", name, found.Name(), err)
			}
		}
	}
	for _, line := range [][]string{nil, {"--help"}, {"help"}, {"completion"}, {"__complete"}, {"aply"}, {"--store"}} {
		if name := nameAsked(line); name != "" {
			t.Errorf("for %q the root has %s alone", line, name)
		}
	}
}
