package dsl

import (
	"errors"
	"fmt"
	"io/fs"
	pathpkg "path"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// TestSuffix ends the name of every test file. Such a file is never part of a program.
const TestSuffix = ".flowtest.hcl"

// Tests are the tests of one file.
type Tests struct {
	*Program // that they are for; nil if there is none
	// Path is what the program was loaded from: a file, or the folder.
	Path  string
	Tests []ir.Test // nil if there are errors
}

// IsTest tells from the name of a file that it holds tests.
func IsTest(name string) bool { return strings.HasSuffix(name, TestSuffix) }

// LoadTests reads a test file, and the program beside it: that of the folder, or the file of the same name (NAME.flow.hcl or NAME.hcl of
// NAME.flowtest.hcl) where the folder is not a program or has other files for its own. The result is never nil.
func LoadTests(fsys fs.FS, name string, opts Options) (*Tests, diag.List) {
	return NewTestReader(fsys, opts).Load(name)
}

// TestReader reads the test files of one file system. It loads each of their programs once.
type TestReader struct {
	fsys     fs.FS
	opts     Options
	programs map[string]*loaded // by path
}

// loaded is a program, or why it could not be loaded.
type loaded struct {
	*Program
	checked *check.Program
	list    diag.List
}

// NewTestReader makes a reader that has loaded nothing yet.
func NewTestReader(fsys fs.FS, opts Options) *TestReader {
	return &TestReader{fsys, opts, map[string]*loaded{}}
}

// Load reads a test file as [LoadTests] does. Tests of one program share their Program.
func (r *TestReader) Load(name string) (*Tests, diag.List) {
	t := &Tests{Program: &Program{Sources: map[string][]byte{}}}
	shown := r.opts.show(name)
	data, err := readFile(r.fsys, name, r.opts)
	if err != nil {
		return t, diag.List{unreadable(shown, err)}
	}
	file, list := r.opts.Limits.Parse(shown, data)
	t.Sources[file.Name] = Withhold(file.Src)
	if list.HasErrors() {
		return t, list.Sort()
	}
	path, p := r.beside(name)
	if p == nil {
		base := strings.TrimSuffix(file.Name, TestSuffix)
		return t, append(list, diag.Diagnostic{Code: "F0297", Subject: diag.Range{File: file.Name}, Summary: fmt.Sprintf("No program beside %s", file.Name),
			Detail: fmt.Sprintf("Tests are in the folder of their program, or beside the file of the same name: %s.flow.hcl or %s.hcl.", base, base)})
	}
	p.Sources[file.Name] = t.Sources[file.Name]
	t.Program, t.Path = p.Program, path
	if p.list.HasErrors() {
		return t, append(list, p.list...).Sort()
	}
	tests, found := check.Tests(p.checked, file, onlyWorkflow(p.Program, r.opts.show(sameName(r.fsys, name))), check.Options{Version: r.opts.Version, File: r.opts.reader(r.fsys, name)})
	found = p.core.Home(found)
	for _, test := range tests {
		found = append(found, p.complete(test)...)
	}
	if list = append(list, found...); !list.HasErrors() {
		for _, test := range tests {
			t.Tests = append(t.Tests, *test.Test)
		}
	}
	return t, list.Sort()
}

// program loads the program at a path.
func (r *TestReader) program(path string) *loaded {
	if r.programs[path] == nil {
		p, checked, list := read(r.fsys, path, r.opts, false)
		if !list.HasErrors() {
			p.lower(checked)
		}
		r.programs[path] = &loaded{p, checked, list}
	}
	return r.programs[path]
}

// testsIn lists the test files of a folder; none of what is not a folder.
func testsIn(fsys fs.FS, dir string) (out []string) {
	entries, _ := fs.ReadDir(fsys, dir)
	for _, e := range entries {
		if n := e.Name(); !e.IsDir() && IsTest(n) && !strings.HasPrefix(n, ".") {
			out = append(out, pathpkg.Join(dir, n))
		}
	}
	return out
}

// checkTests checks the tests in the folder of a program.
func (p *Program) checkTests(fsys fs.FS, dir string, opts Options) (list diag.List) {
	reader := NewTestReader(fsys, opts)
	for _, name := range testsIn(fsys, dir) {
		t, found := reader.Load(name)
		list = append(list, found...)
		for name, text := range t.Sources { // any order: it fills a map
			p.Sources[name] = text
		}
	}
	return list
}

// beside loads the program that a test file is for, and returns the path of the program; nil if there is none.
func (r *TestReader) beside(name string) (path string, _ *loaded) {
	dir, same := pathpkg.Dir(name), sameName(r.fsys, name)
	whole, list := inFolder(r.fsys, dir, r.opts.show(dir))
	if len(whole) > 0 && list == nil && (same == "" || slices.Contains(whole, same)) {
		if p := r.program(dir); !p.list.HasErrors() || same == "" || len(whole) == 1 {
			return dir, p
		}
	}
	if same == "" {
		return "", nil
	}
	return same, r.program(same)
}

// sameName is the file beside a test file that has its name; "" if there is none.
func sameName(fsys fs.FS, name string) string {
	base := strings.TrimSuffix(name, TestSuffix)
	for _, suffix := range []string{".flow.hcl", ".hcl"} {
		if info, err := fs.Stat(fsys, base+suffix); err == nil && info.Mode().IsRegular() {
			return base + suffix
		}
	}
	return ""
}

// onlyWorkflow is the one workflow that a file declares; "" if it declares none or several.
func onlyWorkflow(p *Program, file string) (name string) {
	for i := range p.IR.Workflows {
		w := p.IR.Workflows[i].Name
		if p.Positions[w].File != file {
			continue
		}
		if name != "" {
			return ""
		}
		name = w
	}
	return name
}

// complete gives a test the values of its run: what it says, and the defaults.
func (p *Program) complete(t *check.Test) (list diag.List) {
	vars, errs := Inputs("variable", forTest(p.IR.Variables, t.Vars.Values), t.Vars.Values, Known{Files: p.IR.Files})
	list = append(list, ungiven(t.Header, fmt.Sprintf("test %q", t.Name), "vars", t.Vars, p.IR.Variables, errs)...)
	t.Test.Vars = vars
	inputs := func(header diag.Range, context, workflow string, given check.Given) map[string]value.Value {
		w := p.IR.Workflow(workflow)
		inputs, errs := Inputs("input", forTest(w.Inputs, given.Values), given.Values, Known{Vars: vars, Files: p.IR.Files})
		list = append(list, ungiven(header, context, "inputs", given, w.Inputs, errs)...)
		return inputs
	}
	if t.Workflow != "" {
		t.Test.Inputs = inputs(t.Header, fmt.Sprintf("test %q", t.Name), t.Workflow, t.Inputs)
	}
	if len(t.Loops) > 0 {
		list = append(list, p.completeLoop(t)...)
	}
	for _, d := range t.Decisions {
		if d.Word != "approve" {
			continue
		}
		asked := p.IR.Workflow(d.Workflow).Find(d.Node).Action.(*ir.Approve).Inputs
		input, errs := Inputs("input", asked, d.Inputs.Values, Known{Vars: vars, Files: p.IR.Files})
		list = append(list, ungiven(d.Header, fmt.Sprintf("decide %q", d.Step), "input", d.Inputs, asked, errs)...)
		d.Input = input
	}
	for _, run := range t.Runs {
		if !run.Again {
			run.TestRun.Inputs = inputs(run.Header, fmt.Sprintf("start %q", run.Label), run.Workflow, run.Inputs)
		}
	}
	return list
}

// forTest are declarations in which a sensitive text that is not given is a word that stands for it.
func forTest(decls []ir.Variable, given map[string]value.Value) []ir.Variable {
	out := slices.Clone(decls)
	for i := range out {
		d := &out[i]
		if _, there := given[d.Name]; !there && d.Sensitive && !d.HasDefault && d.Type.Kind == value.StringT && len(d.Enum) == 0 && len(d.Validation) == 0 {
			d.HasDefault, d.Default = true, "secret-"+d.Name
		}
	}
	return out
}

// ungiven reports values of a test that do not fit.
func ungiven(header diag.Range, context, attr string, given check.Given, decls []ir.Variable, errs []error) (list diag.List) {
	for _, err := range errs {
		var e *InputError
		if !errors.As(err, &e) {
			continue // all of them are
		}
		declared := slices.ContainsFunc(decls, func(d ir.Variable) bool { return d.Name == e.Name })
		d := diag.Diagnostic{Code: "F0299", Subject: given.Place(header, e.Name, declared), Context: context, Summary: e.Message,
			Detail: strings.TrimSuffix(e.Hint, "?") + "."}
		if strings.HasSuffix(e.Hint, "?") {
			d.Detail = e.Hint
		}
		if _, there := given.Values[e.Name]; !there || e.Hint == "" {
			block, _, _ := strings.Cut(context, " ")
			d.Detail = fmt.Sprintf("Write it into the %s:  %s = { %s = … }.", block, attr, e.Name)
		}
		list = append(list, d)
	}
	return list
}
