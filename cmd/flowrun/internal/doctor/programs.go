package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/runner/standalone"
)

// aboutShells looks for the shells that run scripts.
func (d *Doctor) aboutShells(string) []ui.Finding {
	var out []ui.Finding
	if at, err := d.findProgram("sh", ""); err == nil {
		out = append(out, fine("sh", at))
	} else {
		out = append(out, wrong("sh", err.Error(), "Scripts need it: install a POSIX shell, or fix PATH."))
	}
	if at, err := d.findProgram("bash", ""); err == nil {
		out = append(out, fine("bash", at))
	} else {
		out = append(out, odd("bash", err.Error(), `Only scripts with shell = "bash" need it.`))
	}
	return out
}

// aboutResources says how the processes of agents are bounded.
func aboutResources(string) []ui.Finding {
	text, whole := standalone.Confinement()
	if !whole {
		return []ui.Finding{odd("resources", text, "Run agents that need a memory limit on Linux, or in a container.")}
	}
	return []ui.Finding{fine("resources", text)}
}

// aboutPrograms examines the program at a path, and looks for the executables that its steps, gates
// and agents start.
func (d *Doctor) aboutPrograms(path string) []ui.Finding {
	p, list := d.Load(path)
	if p.IR == nil {
		for _, d := range list {
			if d.Code == dsl.CodeNoFiles {
				return []ui.Finding{fine("program", "no workflow files in "+path)}
			}
		}
		return []ui.Finding{wrong("program", fmt.Sprintf("%s is refused: %s", path, countErrors(list)), "See  flowrun validate "+ui.Quote(path))}
	}
	out := []ui.Finding{fine("program", path+" with "+ui.Count(len(p.IR.Workflows), "workflow"))}
	dir, err := disk.Folder(path)
	if err != nil {
		return append(out, wrong("program", err.Error(), "Change to a folder that exists."))
	}
	out = append(out, d.aboutEmbedder(p.IR)...)
	out = append(out, d.aboutKeys(p.IR)...)
	out = append(out, d.aboutTools(p.IR, path)...)
	users := map[string][]string{}
	for _, s := range listStarted(p.IR) {
		users[s.program] = append(users[s.program], s.by)
	}
	names := make([]string, 0, len(users))
	for n := range users {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		by := ", for " + ui.First(users[n], 3)
		at, err := d.findProgram(n, dir)
		if err == nil {
			out = append(out, fine("command", at+by))
			continue
		}
		fix := "Install it, or fix PATH, or write it with its folder."
		if info, missing := os.Stat(at); missing == nil && !info.IsDir() {
			fix = "chmod +x " + ui.Quote(at)
		}
		out = append(out, wrong("command", err.Error()+by, fix))
	}
	return out
}

func countErrors(list diag.List) string {
	n := 0
	for i := range list {
		if list[i].Severity == diag.Error {
			n++
		}
	}
	return ui.Count(n, "error")
}

// start is an executable and the part of the program that starts it.
type start struct{ program, by string }

// listStarted lists the executables that a program starts, if their names are constants.
func listStarted(p *ir.Program) (out []start) {
	add := func(e *ir.Expr, by string) {
		if name := constantProgram(e); name != "" {
			out = append(out, start{name, by})
		}
	}
	for i := range p.Loops {
		if p.Loops[i].Worktree {
			out = append(out, start{"git", "the worktrees of loop " + p.Loops[i].Name})
		}
	}
	for i := range p.Agents {
		add(p.Agents[i].Command, "agent "+p.Agents[i].Name)
		for _, s := range p.Agents[i].Servers {
			add(s.Command, "server "+s.Name+" of agent "+p.Agents[i].Name)
		}
	}
	for i := range p.Gates {
		if r := p.Gates[i].Run; r != nil {
			add(r.Argv, "gate "+p.Gates[i].Name)
		}
	}
	node := func(n *ir.Node) {
		if run, ok := n.Action.(*ir.Run); ok {
			add(run.Argv, "step "+n.Name)
		}
		if n.Compensate != nil {
			add(n.Compensate.Run.Argv, "compensation of "+n.Name)
		}
	}
	for i := range p.Workflows {
		w := &p.Workflows[i]
		for n := range ir.All(w.Nodes) {
			node(n)
		}
		if w.Finally != nil {
			for n := range ir.All(w.Finally.Nodes) {
				node(n)
			}
		}
	}
	return out
}

// literal returns the first member of a constant list.
var literal = lazyregexp.New(`^\s*(?:concat\(\s*)?\[\s*"((?:[^"\\$%])+)"`)

// constantProgram returns the executable of a list of executable and arguments, or "" if it is computed.
func constantProgram(e *ir.Expr) string {
	if e == nil {
		return ""
	}
	if list, ok := e.Const.([]any); ok && len(list) > 0 {
		name, _ := list[0].(string)
		return name
	}
	if m := literal().FindStringSubmatch(e.Text); m != nil && e.Kind == ir.HCL {
		return m[1]
	}
	return ""
}

// findProgram finds an executable as an attempt would: by PATH, or from a folder if its name has a
// slash.
func (d *Doctor) findProgram(name, dir string) (string, error) {
	if strings.Contains(name, "/") {
		at := name
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, name)
		}
		return at, checkExecutable(at)
	}
	for _, folder := range filepath.SplitList(d.Getenv("PATH")) {
		if at := filepath.Join(folder, name); folder != "" && checkExecutable(at) == nil {
			return at, nil
		}
	}
	return "", fmt.Errorf("%s is not on the PATH", name)
}

func checkExecutable(at string) error {
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", at, errors.Unwrap(err))
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable (chmod +x)", at)
	}
	return nil
}
