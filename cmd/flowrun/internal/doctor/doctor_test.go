package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/engine"
	"github.com/flowrun/flowrun/runner/event"
)

// Programs are looked for as an attempt looks for them.
func TestProgramsAreFound(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"run": 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	d := &Doctor{Getenv: func(string) string { return ":" + dir }}
	for name, want := range map[string]string{
		"run": "", "text": "text is not on the PATH", "none": "none is not on the PATH", "./run": "", "./text": "is not executable", "./none": "no such file",
		filepath.Join(dir, "run"): "", dir: "is not executable",
	} {
		at, err := d.findProgram(name, dir)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", name, at, err)
		}
	}
	d = &Doctor{Getenv: func(string) string { return "" }}
	found := d.aboutShells("")
	if found[0].Level != ui.Wrong || found[1].Level != ui.Odd || found[0].Fix == "" {
		t.Errorf("%+v", found)
	}
}

func TestFirstOf(t *testing.T) {
	for text, want := range map[string]string{
		`["git", "log"]`: "git", `concat(["git"], x)`: "git", "[\n \"a b\"]": "a b", `["${x}"]`: "", `["a\"b"]`: "", "x": "", `[x, "git"]`: "",
	} {
		if have := constantProgram(&ir.Expr{Kind: ir.HCL, Text: text}); have != want {
			t.Errorf("%s: %q, want %q", text, have, want)
		}
	}
	if have := constantProgram(&ir.Expr{Kind: ir.Const, Const: []any{"git"}}); have != "git" || constantProgram(nil) != "" {
		t.Error(have)
	}
}

// A run from the future is told from the bound on, and a run that nobody drives at once.
func TestRunsAndClock(t *testing.T) {
	at := func(d time.Duration) engine.Info {
		return engine.Info{Run: "abc", Status: event.Succeeded, Created: event.At(time.Now().Add(d))}
	}
	if found := aboutFutureRuns([]engine.Info{at(-time.Hour), at(MaxAhead - time.Second)}); found != nil {
		t.Errorf("%+v", found)
	}
	if found := aboutFutureRuns([]engine.Info{at(MaxAhead + time.Minute)}); len(found) != 1 || found[0].Level != ui.Wrong || !strings.Contains(found[0].Text, "abc") {
		t.Errorf("%+v", found)
	}
	left := engine.Info{Run: "left", Status: event.Running}
	if found := aboutRuns([]engine.Info{at(0), left, {Status: event.Running, Driver: 7}}, nil, " --store s"); len(found) != 2 || found[1].Level != ui.Odd || !strings.Contains(found[1].Fix, "resume left --store s") {
		t.Errorf("%+v", found)
	}
	asks := engine.Info{Run: "asks", Status: event.Waiting}
	if found := aboutRuns([]engine.Info{asks}, map[string]bool{"asks": true}, " --store s"); len(found) != 2 || !strings.Contains(found[1].Text, "1 waiting for people") || found[1].Fix != "To answer: flowrun inbox --store s" {
		t.Errorf("%+v", found)
	}
}

// What a workflow starts is looked for wherever it stands: last, and to undo something, too.
func TestStartedProgramsAreFoundEverywhere(t *testing.T) {
	run := func(name string) ir.Run { return ir.Run{Argv: ir.Lit([]any{name}, value.List(value.StringType))} }
	step, last, gate := run("a"), run("b"), run("c")
	p := &ir.Program{
		Gates: []ir.Gate{{Name: "g", Run: &gate}},
		Loops: []ir.Loop{{Name: "l", Worktree: true}, {Name: "other"}},
		Workflows: []ir.Workflow{{
			Nodes:   []ir.Node{{Name: "group", Children: []ir.Node{{Name: "s", Action: &step, Compensate: &ir.Compensate{Run: run("d")}}}}},
			Finally: &ir.Finally{Nodes: []ir.Node{{Name: "f", Action: &last}}},
		}},
	}
	want := []start{{"git", "the worktrees of loop l"}, {"c", "gate g"}, {"a", "step s"}, {"d", "compensation of s"}, {"b", "step f"}}
	if have := listStarted(p); !slices.Equal(have, want) {
		t.Errorf("%v, want %v", have, want)
	}
}
