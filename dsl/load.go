// Package dsl reads workflow programs: bytes in, a checked program in its core form out, or diagnostics.
//
// It is the map of the front half. [Load] finds the files of a program, and then: syntax turns bytes into blocks with
// places, core rewrites patterns to the core language, check finds out what all of it means with the table of schema and the
// expressions of expr, and lower makes the ir that a run is pinned to. [ParseInput] and [Inputs] read what a command line gives for variables and inputs.
//
// The package runs nothing and must never import anything of the runner. It reads files through an fs.FS only.
// What holds always: Load gives a program or at least one error; findings come sorted; nothing in a file can make it
// panic, or cost more than in proportion to the file's size.
package dsl

import (
	"io/fs"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/core"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/format"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lower"
	"github.com/flowrun/flowrun/dsl/syntax"
)

// Program is what Load makes of the files of one program.
type Program struct {
	IR    *ir.Program // nil if there are errors
	Nodes int         // how many the workflows have in all; 0 if there are errors
	// Sources holds the text of each file by the name that diagnostics use, as offsets count in it: without a byte order
	// mark and with LF line ends, and without the defaults of what is sensitive. It is set even where there are errors, for snippets.
	Sources map[string][]byte
	// Positions says where things are declared; see lower.Positions for the keys: "WORKFLOW", "WORKFLOW/NODE", "var.NAME" …
	Positions map[string]diag.Range
	// Engine is the address of the server on which the program asks to run; "" is the store. It is not a part of the definition.
	Engine string

	core *core.Program // nil if there are errors in the text
}

// Options say how to load. The zero value is right for most.
type Options struct {
	// Name gives the name of a file in diagnostics for its path in the file system; nil uses the path.
	Name func(path string) string
	// Version is that of this flowrun, for required_version; "" is not compared.
	Version string
	// Root is what file("PATH") may read, and Dir the program's folder in it; nil: what is loaded from, and the folder there.
	Root fs.FS
	Dir  string
	// LookPath tells whether a program can be found on this machine; nil: programs are not looked for. Check asks it.
	LookPath func(name string) bool
	// Limits are the bounds of a file where they are other than the usual.
	Limits syntax.Limits
}

// show is the name of a path in diagnostics.
func (o Options) show(path string) string {
	if o.Name == nil {
		return path
	}
	return o.Name(path)
}

// Load reads a program: path is a file, or a folder whose *.flow.hcl, or else *.hcl, are read together. The program is
// never nil. There is no error beside the diagnostics: a file that cannot be read is one.
func Load(fsys fs.FS, path string, opts Options) (*Program, diag.List) {
	p, checked, list := read(fsys, path, opts, false)
	if !list.HasErrors() {
		p.lower(checked)
	}
	return p, list.Sort()
}

// Check finds what Load would find and gives advice, and makes neither IR nor Positions, which would take a third more memory. It also
// checks the tests in a folder; path may be a test file or a file of variables, too.
func Check(fsys fs.FS, path string, opts Options) (*Program, diag.List) {
	if IsTest(path) {
		t, list := LoadTests(fsys, path, opts)
		return t.Program, list
	}
	if IsVariables(path) {
		return variablesOf(fsys, path, opts)
	}
	p, _, list := read(fsys, path, opts, true)
	if !list.HasErrors() {
		list = append(list, p.checkTests(fsys, path, opts)...)
	}
	return p, list.Sort()
}

func read(fsys fs.FS, path string, opts Options, advise bool) (*Program, *check.Program, diag.List) {
	p := &Program{Sources: map[string][]byte{}, Positions: map[string]diag.Range{}}
	texts, list := files(fsys, path, opts)
	var parsed []*syntax.File
	ours := list.HasErrors() || len(texts) == 1 && texts[0].name == opts.show(path) // a file that is named, and a folder that could not be read
	for _, t := range texts {
		f, found := opts.Limits.Parse(t.name, t.data)
		ours = ours || originOf(f, found.HasErrors()) == Ours
		otherNames(f, found)
		p.Sources[f.Name] = Withhold(f.Src)
		parsed, list = append(parsed, f), append(list, found...)
	}
	if !ours {
		return p, nil, diag.List{passedOver(opts.show(path), texts)}
	}
	if list.HasErrors() {
		return p, nil, list
	}
	var found diag.List
	p.core, found = core.Rewrite(parsed)
	list = append(list, found...)
	checked, found := check.Check(p.core.Files, check.Options{Version: opts.Version, File: opts.reader(fsys, path), Advise: advise && !found.HasErrors(), LookPath: opts.LookPath})
	p.core.Forget()
	list = append(list, p.core.Home(found)...)
	if !list.HasErrors() && len(checked.Workflows) == 0 {
		list = append(list, noWorkflow(parsed, path))
	}
	if list.HasErrors() {
		if len(texts) == 1 && texts[0].name == opts.show(path) {
			siblings(fsys, path, opts, list, p.Sources)
		}
		return p, nil, list
	}
	p.Engine = checked.Engine()
	for _, w := range checked.Workflows {
		p.Nodes += len(w.All)
	}
	return p, checked, list
}

// lower makes the IR of a checked program.
func (p *Program) lower(checked *check.Program) {
	p.IR, p.Positions = lower.Lower(checked)
	for key, r := range p.Positions { // any order: each for itself
		p.Positions[key] = p.core.Place(r)
	}
	for i := range p.IR.Workflows {
		w := &p.IR.Workflows[i]
		lists := [][]ir.Node{w.Nodes}
		if w.Finally != nil {
			lists = append(lists, w.Finally.Nodes)
		}
		for _, nodes := range lists {
			for n := range ir.All(nodes) {
				n.Pattern = p.core.Pattern(w.Name, n.Name)
			}
		}
	}
}

// Lowered is the text of the program without patterns: what they become stands in their place, laid out as fmt does it. The files of a
// program follow each other in one text, which is a program again. Where a default of what is sensitive stands in a file, asterisks
// stand in the text, and it is not a program. It is nil if there are errors in the program.
func (p *Program) Lowered() []byte {
	if p.IR == nil {
		return nil
	}
	var out []byte
	for i, f := range p.core.Files {
		text, list := format.Format(f.Name, Withhold(f.Src))
		if list.HasErrors() {
			text = Withhold(f.Src)
		}
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, text...)
	}
	return out
}
