// Package comparison compares programs with other definitions of them: those of another file or folder, or of a revision of git.
//
// It reads both sides, and gives what differs in each workflow with the figures of a plan. It runs nothing, and knows no command and no store:
// a [Comparison] is given what is known of values and of earlier costs. What always holds: a side without the program, or with one that has errors,
// is an answer and not an error. Enter at [Comparison.Compare].
package comparison

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/revision"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/disk"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/outline"
	"github.com/flowrun/flowrun/runner/plan"
)

// side is where one side of a comparison is read from. Paths are those that the user names.
type side interface {
	// below lists the folders of programs at and below a folder, relative to it; none for a folder that does not exist.
	below(dir string) ([]string, error)
	open(path string) definition
}

// definition is where a program is read from.
type definition struct {
	fsys fs.FS
	name string
	opts dsl.Options
}

// read loads the program. It is nil and without findings if there is none.
func (d definition) read() (*dsl.Program, diag.List) {
	if _, err := fs.Stat(d.fsys, d.name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	p, list := dsl.Load(d.fsys, d.name, d.opts)
	if slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == dsl.CodeNoFiles }) {
		return nil, nil
	}
	return p, list
}

// onDisk reads a path, or with a base what lies at the place of the base in another folder.
type onDisk struct {
	options   dsl.Options
	base, dir string
}

func (d onDisk) at(path string) string {
	if d.dir == "" {
		return path
	}
	rel, err := filepath.Rel(d.base, path)
	if err != nil { // both are relative, or both are not
		return path
	}
	return filepath.Join(d.dir, rel)
}

func (d onDisk) below(dir string) ([]string, error) {
	return programsBelow(os.DirFS(d.at(dir)), ".")
}

func (d onDisk) open(path string) definition {
	fsys, name, opts := disk.Open(d.at(path), d.options)
	return definition{fsys, name, opts}
}

func programsBelow(fsys fs.FS, dir string) (list []string, err error) {
	if list, err = disk.ProgramsIn(fsys, dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// inRevision reads paths as a revision of their repository has them.
type inRevision struct {
	options  dsl.Options
	revision string
	root     string // of the repository
	files    *revision.Files
}

func (r inRevision) at(path string) string {
	whole, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.Rel(r.root, whole)
	}
	if err != nil {
		return path // which no revision has
	}
	return filepath.ToSlash(path)
}

func (r inRevision) below(dir string) ([]string, error) {
	at := r.at(dir)
	list, err := programsBelow(r.files, at)
	for i, p := range list {
		if list[i], err = filepath.Rel(filepath.FromSlash(at), filepath.FromSlash(p)); err != nil {
			return nil, err
		}
	}
	return list, err
}

func (r inRevision) open(path string) definition {
	name := r.at(path)
	dir := filepath.ToSlash(filepath.Dir(name))
	if info, err := fs.Stat(r.files, name); err == nil && info.IsDir() {
		dir = name
	}
	opts := r.options
	opts.Root, opts.Dir, opts.Name = r.files, dir, func(p string) string { return r.revision + ":" + p }
	return definition{r.files, name, opts}
}

// Comparison says what to compare, and how. All fields must be set.
type Comparison struct {
	Paths   []string // files, folders, or DIR/...
	Against string   // a file, a folder or a revision
	Options dsl.Options
	// Known is what is known of values before a run.
	Known func(*ir.Program, *ir.Workflow) (outline.Values, error)
	// Used is what attempts of agents have cost at most, by the store of a path.
	Used func(path string) (outline.Used, error)

	revisions map[string]*revision.Files // by the root of the repository
}

// Compare reads and compares the programs of all paths.
func (c *Comparison) Compare() (*ui.PlanChanges, error) {
	c.revisions = map[string]*revision.Files{}
	result := &ui.PlanChanges{Against: c.Against, Programs: []ui.ProgramChange{}}
	for _, path := range c.Paths {
		if err := c.path(path, result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// otherSide finds the other side of a path: a file or folder of that name, or else a revision of the path's repository.
func (c *Comparison) otherSide(path string) (side, error) {
	dir, all := disk.CutDots(path)
	if info, err := os.Stat(c.Against); err == nil {
		switch here, missing := os.Stat(dir); {
		case len(c.Paths) > 1:
			return nil, &args.Error{Message: "--against with a file or folder takes one path",
				Hint: "DIR/... means each program below DIR. With a revision of git, --against takes any number of paths."}
		case all && !info.IsDir():
			return nil, args.Errorf("--against %s is a file, and %s means folders", ui.Clean(c.Against), ui.Clean(path))
		case info.IsDir() && (missing == nil && !here.IsDir() || missing != nil && strings.HasSuffix(dir, ".hcl")):
			return onDisk{c.Options, filepath.Dir(dir), c.Against}, nil
		}
		return onDisk{c.Options, dir, c.Against}, nil
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root := disk.Repository(whole)
	if root == "" {
		return nil, args.Errorf("%s does not exist, and %s is not in a git repository whose revision it could be", ui.Clean(c.Against), ui.Clean(path))
	}
	files := c.revisions[root]
	if files == nil {
		files, err = revision.Open(root, c.Against)
	}
	var unknown *revision.Unknown
	if errors.As(err, &unknown) {
		return nil, &args.Error{Message: fmt.Sprintf("%s is neither a file, nor a folder, nor a revision of git", ui.Clean(c.Against)),
			Hint: "A checkout that was made without history has no other revision. Fetch it first, and name what was fetched:  git fetch --depth 1 origin BRANCH  and then  --against FETCH_HEAD"}
	}
	if err != nil {
		return nil, err
	}
	c.revisions[root] = files
	return inRevision{c.Options, c.Against, root, files}, nil
}

// path compares the programs that a path means on either side.
func (c *Comparison) path(path string, to *ui.PlanChanges) error {
	other, err := c.otherSide(path)
	if err != nil {
		return err
	}
	here, paths := onDisk{options: c.Options}, []string{path}
	if dir, all := disk.CutDots(path); all {
		now, err := here.below(dir)
		if err != nil {
			return err
		}
		old, err := other.below(dir)
		if err != nil {
			return err
		}
		paths = append(now, old...)
		slices.Sort(paths)
		paths = slices.Compact(paths)
		if len(paths) == 0 {
			return &args.Error{Message: fmt.Sprintf("there is no file *.flow.hcl below %s, here or in %s", ui.Clean(dir), ui.Clean(c.Against))}
		}
		for i := range paths {
			paths[i] = filepath.Join(dir, paths[i])
		}
	}
	for _, p := range paths {
		changed, err := c.compareProgram(p, other.open(p), here.open(p))
		if err != nil {
			return err
		}
		to.Programs = append(to.Programs, *changed)
	}
	return nil
}

// compareProgram compares two definitions of one program.
func (c *Comparison) compareProgram(path string, before, after definition) (*ui.ProgramChange, error) {
	old, oldList := before.read()
	now, nowList := after.read()
	out := &ui.ProgramChange{Path: path, Declarations: []ir.Change{}, Workflows: []ui.WorkflowChange{}}
	switch {
	case old == nil && now == nil:
		return nil, fmt.Errorf("there is no program at %s, on either side", ui.Clean(path))
	case nowList.HasErrors():
		out.State, out.Message = ui.NowRefused, firstError(nowList)
		return out, nil
	case oldList.HasErrors():
		out.State, out.Message, old = ui.WasRefused, firstError(oldList), nil
	case old == nil:
		out.State = ir.Added
	case now == nil:
		out.State = ir.Removed
	}
	used, err := c.Used(path)
	if err != nil {
		return nil, err
	}
	var programs [2]*ir.Program
	for i, p := range []*dsl.Program{old, now} {
		if p != nil {
			programs[i] = p.IR
		}
	}
	differences, declared := ir.ComparePrograms(programs[0], programs[1])
	if out.State == "" {
		out.Declarations = declared // of a program that is new or gone the workflows say enough
	}
	for _, name := range slices.Sorted(maps.Keys(differences)) {
		w := ui.WorkflowChange{Workflow: name, Nodes: []ir.Change{}, Declarations: []ir.Change{}}
		if w.Before, err = c.figures(programs[0], name, used); err == nil {
			w.After, err = c.figures(programs[1], name, used)
		}
		if err != nil {
			return nil, err
		}
		d := differences[name]
		switch {
		case out.State == ui.WasRefused:
		case w.Before == nil:
			w.State = ir.Added
		case w.After == nil:
			w.State = ir.Removed
		case !d.Same || !reflect.DeepEqual(w.Before, w.After):
			w.State, w.Nodes, w.Declarations = ir.Altered, d.Nodes, d.Declarations
		default:
			out.Same++
			continue
		}
		out.Workflows = append(out.Workflows, w)
	}
	if out.State == "" && len(out.Workflows)+len(out.Declarations) > 0 {
		out.State = ir.Altered
	}
	out.State = cmp.Or(out.State, ui.Unchanged)
	return out, nil
}

// firstError is the first error of a program, with its place.
func firstError(list diag.List) string {
	for _, d := range list {
		if d.Severity == diag.Error {
			if d.Subject.Set() {
				return fmt.Sprintf("%s: %s", d.Subject, d.Summary)
			}
			return d.Summary
		}
	}
	return ""
}

// figures are those of a workflow; nil if the program has no such workflow.
func (c *Comparison) figures(p *ir.Program, name string, used outline.Used) (*ui.Figures, error) {
	if p == nil || p.Workflow(name) == nil {
		return nil, nil
	}
	known, err := c.Known(p, p.Workflow(name))
	if err != nil {
		return nil, err
	}
	g, err := plan.Build(p, name)
	if err != nil {
		return nil, err
	}
	o := outline.Of(g, known)
	f := &ui.Figures{Steps: len(o.Steps) + len(o.Finally), Chain: o.Critical, Worst: outline.WorstOf(g, known, used, 0)}
	for _, b := range o.Budgets {
		if b.Node == "" {
			f.Budget = b.Bounds
		}
	}
	return f, nil
}
