package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// changed describes how the program at a run's recorded path differs from the run's definition. A
// run keeps its definition when the file changes. The zero value means that the program does not
// differ, or that the difference is unknown.
type changed struct {
	what  string // "ship.flow.hcl has changed since run abc began"
	apply string // the command that runs the changed program; "" if there is none
}

// differs reports whether there is a difference to show.
func (c changed) differs() bool { return c.what != "" }

// advice returns a line with the command that runs the changed program, or "".
func (c changed) advice() string {
	if c.apply == "" {
		return ""
	}
	return "\nTo run the file as it is now: " + c.apply
}

// changed compares a run's definition with the program at its recorded path. A file that cannot be
// read counts as unchanged, because the result is only advice.
func (a *app) changed(s *store, run string) changed {
	ctx := context.Background()
	first, _, err := s.Beginning(ctx, run)
	if err != nil {
		return changed{}
	}
	b, err := s.SourceOf(ctx, run)
	if err != nil || b.Path == "" {
		return changed{}
	}
	path := disk.Short(b.Path)
	info, err := os.Stat(b.Path)
	switch {
	case err != nil && s.Address() != "": // the run was started on another machine
		return changed{}
	case errors.Is(err, fs.ErrNotExist):
		return changed{what: fmt.Sprintf("%s, which run %s began with, no longer exists", ui.Clean(path), run)}
	case err != nil, !info.IsDir() && !info.Mode().IsRegular(): // reading it might wait
		return changed{}
	}
	p, list := a.readProgram(b.Path)
	if list.HasErrors() {
		return changed{what: fmt.Sprintf("%s has changed since run %s began, and has errors now (see flowrun validate %s)", ui.Clean(path), run, ui.Quote(path))}
	}
	if sameTexts(p, b.Files) && len(p.IR.Files) == 0 {
		return changed{}
	}
	if pinned, err := s.Pinned(ctx, run); err != nil || pinned.Header.Definition == ir.Hash(p.IR.Canonical()) {
		return changed{}
	}
	return changed{what: fmt.Sprintf("%s has changed since run %s began", ui.Clean(path), run), apply: a.applyAgain(s, p.IR, b.Path, first)}
}

// sayChanged warns the user, when a run is resumed, that the run keeps its own definition although
// the file has changed.
func (a *app) sayChanged(s *store, info engine.Info) {
	if c := a.changed(s, info.Run); c.differs() && !info.Status.Terminal() {
		a.err.Printf("%s: the run continues with its old definition.%s\n", c.what, c.advice())
	}
}

// sameTexts reports whether a program has the texts of the run's definition, in any folder.
func sameTexts(p *dsl.Program, then map[string]string) bool {
	now := make([]string, 0, len(p.Sources))
	for _, text := range p.Sources {
		now = append(now, string(text))
	}
	slices.Sort(now)
	return slices.Equal(now, slices.Sorted(maps.Values(then)))
}

// maxAgain bounds a value that is repeated in a command, in bytes; a longer value is left out.
const maxAgain = 80

// applyAgain returns the command that starts a run of a program with the values of another run.
func (a *app) applyAgain(s *store, p *ir.Program, path string, first *event.RunStarted) string {
	command := "flowrun apply " + ui.Quote(disk.Short(path))
	w := p.Workflow(first.Workflow)
	if w != nil && len(p.Workflows) > 1 {
		command += " " + w.Name
	}
	if w != nil {
		command += flagsAgain("--input", w.Inputs, first.Inputs)
	}
	command += flagsAgain("--var", p.Variables, first.Vars)
	return command + a.flagsAt(path, s.Dir())
}

// flagsAgain writes the flags that repeat the given values, except values that equal their
// defaults.
func flagsAgain(flag string, decls []ir.Variable, values map[string]value.Value) string {
	var b strings.Builder
	for i := range decls {
		d := &decls[i]
		v, known := values[d.Name]
		if known && d.HasDefault && bytes.Equal(value.Append(nil, v), value.Append(nil, d.Default)) || !known && d.HasDefault {
			continue
		}
		text, isText := v.(string)
		if !isText {
			text = string(value.Append(nil, v))
		}
		if !known || d.Sensitive || len(text) > maxAgain || text != ui.Clean(text) || strings.HasPrefix(text, "@") || text == "-" {
			fmt.Fprintf(&b, " %s %s=…", flag, d.Name)
			continue
		}
		fmt.Fprintf(&b, " %s %s", flag, flagWord(d.Name, text))
	}
	return b.String()
}

// flagWord returns a name and a value as one word of a shell.
func flagWord(name, text string) string {
	if text == "" {
		return name + "="
	}
	return name + "=" + ui.Quote(text)
}
