package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/serve"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lazyregexp"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/view"
)

// program is a checked program from the disk.
type program struct {
	ir        *ir.Program
	path      string // the file or folder, absolute
	dir       string // its folder, absolute
	sources   ui.Sources
	positions map[string]diag.Range
	lowered   func() []byte
	agent     func(name string, expanded bool) []byte
	engine    string // the address of the server that the file names; "" for the store
}

// readProgram loads the program at a path that a user named, with or without errors in it.
func (a *app) readProgram(path string) (*dsl.Program, diag.List) {
	p, list := dsl.Load(a.openFolder(path))
	return p, adviseFirst(path, list)
}

// adviseFirst adds advice on how to begin if there is no program yet, or none at the path.
func adviseFirst(path string, list diag.List) diag.List {
	told := false
	for i := range list {
		switch list[i].Code {
		case dsl.CodeNoFiles:
			if below, err := disk.Programs([]string{filepath.Join(path, "...")}); err == nil && len(below) > 0 {
				all := "./" + filepath.ToSlash(filepath.Join(filepath.Clean(path), "..."))
				if filepath.IsAbs(path) {
					all = filepath.Join(path, "...")
				}
				list[i].Detail += fmt.Sprintf(" %s below it: flowrun validate %s checks all of them.", ui.Count(len(below), "program")+map[bool]string{true: " lies", false: " lie"}[len(below) == 1], all)
			} else {
				list[i].Detail += " flowrun init writes a first one."
			}
		case dsl.CodeYAML:
			list[i].Detail += " flowrun import FILE writes a first program from a workflow of GitHub Actions or Argo, a DAG of dagu, or a Taskfile."
		case dsl.CodeTwice:
			if notes := list[i].Notes; !told && len(notes) > 0 && notes[0].Range.File != list[i].Subject.File {
				told = true
				list[i].Detail += " The files of a folder are one program. If each file is a program of its own, name the files, flowrun validate FILE..., or give each file a folder."
			}
		case dsl.CodeUnreadable:
			switch {
			case notFiles[path] != "":
				list[i].Detail += " The command for runs is  flowrun " + notFiles[path] + "."
				continue
			case path == "-":
				list[i].Detail += " Only flowrun fmt reads standard input: write the text to a file, NAME.flow.hcl."
				continue
			case strings.ContainsAny(path, "*?"):
				list[i].Detail += " The shell expands * only without quotes. For all folders below, write ./..."
				continue
			}
			if near := nearestFile(path); near != "" {
				list[i].Detail += fmt.Sprintf(" Did you mean %q?", near)
			}
		}
	}
	return list
}

// nearestFile is the path in the same folder that a path that does not exist may mean; "" if there is none.
func nearestFile(path string) string {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Clean(dir))
	var names []string
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".hcl") {
			names = append(names, e.Name())
			if e.Name() == base+".flow.hcl" || e.Name() == base+".hcl" {
				return dir + e.Name()
			}
		}
	}
	if near := diag.Nearest(base, names); near != "" {
		return dir + near
	}
	return ""
}

// openFolder is the place that a program is read from; see [disk.Open].
func (a *app) openFolder(path string) (fsys fs.FS, name string, opts dsl.Options) {
	fsys, name, opts = disk.Open(path, dsl.Options{Version: Release, Limits: a.limits})
	if a.blanked != nil {
		fsys = disk.Blanked{FS: fsys, What: a.blanked, Most: int64(a.limits.FileBytes())}
	}
	return fsys, name, opts
}

// loadProgram loads a program that the command needs. It shows the diagnostics; a program with
// errors is an error.
func (a *app) loadProgram(path string) (*program, error) {
	p, list := a.readProgram(path)
	if list.HasErrors() && a.asJSON {
		_ = ui.DiagnosticsJSON(a.out, list, p.Sources)
	} else {
		ui.Diagnostics(a.err, list, p.Sources)
	}
	if list.HasErrors() {
		return nil, &ended{refusal(list)}
	}
	dir, err := disk.Folder(path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	return &program{p.IR, path, dir, p.Sources, p.Positions, p.Lowered, p.Agent, p.Engine}, nil
}

// refusal is the exit code for errors in a program. If files could not be read, it is the code of a
// command that could not be carried out.
func refusal(list diag.List) int {
	for _, d := range list {
		if d.Code == dsl.CodeUnreadable {
			return exitCouldNot
		}
	}
	return exitNo
}

// workflow picks the workflow to run: the named one, or the only one, or the default.
func (p *program) workflow(name string) (*ir.Workflow, error) {
	var names []string
	var byDefault *ir.Workflow
	for i := range p.ir.Workflows {
		w := &p.ir.Workflows[i]
		if names = append(names, w.Name); w.Default {
			byDefault = w
		}
	}
	sort.Strings(names)
	switch {
	case name != "":
		if w := p.ir.Workflow(name); w != nil {
			return w, nil
		}
		return nil, unknown(name, names, "There is "+strings.Join(names, ", ")+".", fmt.Sprintf("there is no workflow %q", name))
	case len(names) == 1:
		return &p.ir.Workflows[0], nil
	case byDefault != nil:
		return byDefault, nil
	}
	hint := "Write the name of one after the file."
	if len(p.ir.Loops) > 0 {
		hint += " To run the loop: flowrun loop run " + p.ir.Loops[0].Name + " " + ui.Clean(nearPath(p.path))
	}
	return nil, &args.Error{Message: "there are several workflows, and none is the default: " + strings.Join(names, ", "), Hint: hint}
}

// nearPath is a path as a person would type it: relative, if it is below the current folder.
func nearPath(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	return path
}

// source is the text that is stored with a run of one of the workflows; see [serve.SourceOf].
func (p *program) source(workflow string) runner.Source {
	return serve.SourceOf(&dsl.Program{Sources: p.sources, Positions: p.positions}, p.path, workflow)
}

// knownStep refuses a step that a workflow does not have. step is its name, or the path of an
// instance or iteration; "" means no step.
func knownStep(w *ir.Workflow, step string) error {
	if step == "" {
		return nil
	}
	names, name := w.StepNames(), view.Base(step)
	if up := view.Parent(step); up != "" && iteration().MatchString(name) {
		name = view.Base(up)
	}
	if slices.Contains(names, name) {
		return nil
	}
	if len(names) == 0 {
		return &args.Error{Message: fmt.Sprintf("%q has no step %q", w.Name, step), Hint: "It has no steps. The steps of a loop are in the runs that it starts: flowrun runs list."}
	}
	return unknown(name, names, "Its steps are "+ui.First(names, 3), fmt.Sprintf("workflow %q has no step %q", w.Name, step))
}

// iteration matches the last part of the path of an iteration, as in build/i2.
var iteration = lazyregexp.New(`^i[1-9][0-9]*$`)

// pickWorkflow loads the program that a user named, and picks the workflow. If the path is the name
// of a workflow, the path becomes the current folder.
func (a *app) pickWorkflow(path *string, workflow string) (*program, *ir.Workflow, error) {
	if *path == "" {
		return nil, nil, emptyPath()
	}
	*path, workflow = a.asWorkflow(*path, workflow)
	if dsl.IsTest(*path) {
		return nil, nil, &args.Error{Message: ui.Clean(*path) + " has tests, and no workflow", Hint: "To run the tests: flowrun test " + ui.Quote(*path)}
	}
	p, err := a.loadProgram(*path)
	if err != nil {
		return nil, nil, err
	}
	w, err := p.workflow(workflow)
	return p, w, err
}

// asWorkflow takes a workflow of the current folder in place of a file, if there is no such file.
func (a *app) asWorkflow(path, workflow string) (string, string) {
	if _, err := os.Stat(path); err == nil || workflow != "" {
		return path, workflow
	}
	if p, list := a.readProgram("."); !list.HasErrors() && p.IR.Workflow(path) != nil {
		return ".", path
	}
	return path, workflow
}

// findPrograms expands DIR/... to the folders of the programs below DIR.
func findPrograms(paths []string) ([]string, error) {
	if slices.Contains(paths, "") {
		return nil, emptyPath()
	}
	found, err := disk.Programs(paths)
	var none *disk.NoPrograms
	if errors.As(err, &none) {
		return nil, &args.Error{Message: fmt.Sprintf("there is no file *.flow.hcl below %s", ui.Clean(none.Dir)),
			Hint: "DIR/... leaves other files *.hcl to other tools. To check a program in such files, name its folder."}
	}
	return found, err
}

// noAgent says that a program does not have the agent that a command names.
func (a *app) noAgent(p *program, name string) error {
	var names []string
	for _, g := range p.ir.Agents {
		names = append(names, g.Name)
	}
	message := fmt.Sprintf("the program has no agent %s", ui.Quote(name))
	if near := diag.Nearest(name, names); near != "" {
		message += fmt.Sprintf("; did you mean %s?", ui.Quote(near))
	}
	a.err.Printf("%s\n", message)
	return &ended{exitNo}
}
