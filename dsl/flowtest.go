package dsl

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dsl/check"
	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/lower"
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
// NAME.flowtest.hcl) where the folder is no program or has other files for its own. The result is never nil.
func LoadTests(fsys fs.FS, name string, opts Options) (*Tests, diag.List) {
	t := &Tests{Program: &Program{Sources: map[string][]byte{}}}
	data, err := readFile(fsys, name, opts)
	if err != nil {
		return t, diag.List{unreadable(opts.show(name), err)}
	}
	file, list := opts.Limits.Parse(opts.show(name), data)
	own := Withhold(file.Src)
	t.Sources[file.Name] = own
	if list.HasErrors() {
		return t, list.Sort()
	}
	p, checked, found := t.beside(fsys, name, opts)
	if p == nil {
		return t, append(list, diag.Diagnostic{Code: "F0297", Subject: diag.Range{File: file.Name}, Summary: fmt.Sprintf("No program beside %s", file.Name),
			Detail: fmt.Sprintf("Tests stand in the folder of their program, or beside the file of the same name: %s or %s.", strings.TrimSuffix(file.Name, TestSuffix)+".flow.hcl",
				strings.TrimSuffix(file.Name, TestSuffix)+".hcl")})
	}
	t.Program = p
	t.Sources[file.Name] = own
	if found.HasErrors() {
		return t, append(list, found...).Sort()
	}
	p.IR, p.Positions = lower.Lower(checked)
	tests, found := check.Tests(checked, file, onlyWorkflow(p, opts.show(sameName(fsys, name))), check.Options{Version: opts.Version, File: opts.reader(fsys, name)})
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

// testsIn lists the test files of a folder; none of what is no folder.
func testsIn(fsys fs.FS, dir string) (out []string) {
	entries, _ := fs.ReadDir(fsys, dir)
	for _, e := range entries {
		if n := e.Name(); !e.IsDir() && IsTest(n) && !strings.HasPrefix(n, ".") {
			out = append(out, path.Join(dir, n))
		}
	}
	return out
}

// checkTests checks the tests in the folder of a program.
func (p *Program) checkTests(fsys fs.FS, dir string, opts Options) (list diag.List) {
	for _, name := range testsIn(fsys, dir) {
		t, found := LoadTests(fsys, name, opts)
		list = append(list, found...)
		for name, text := range t.Sources { // any order: it fills a map
			p.Sources[name] = text
		}
	}
	return list
}

// beside loads the program that a test file is for; nil if there is none.
func (t *Tests) beside(fsys fs.FS, name string, opts Options) (*Program, *check.Program, diag.List) {
	dir, same := path.Dir(name), sameName(fsys, name)
	whole, list := inFolder(fsys, dir, opts.show(dir))
	if len(whole) > 0 && list == nil && (same == "" || slices.Contains(whole, same)) {
		p, checked, list := read(fsys, dir, opts, false)
		if !list.HasErrors() || same == "" || len(whole) == 1 {
			t.Path = dir
			return p, checked, list
		}
	}
	if same == "" {
		return nil, nil, nil
	}
	t.Path = same
	return read(fsys, same, opts, false)
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
	w := p.IR.Workflow(t.Workflow)
	vars, errs := Inputs("variable", forTest(p.IR.Variables, t.Vars.Values), t.Vars.Values, Known{Files: p.IR.Files})
	list = append(list, ungiven(t, "vars", t.Vars, p.IR.Variables, errs)...)
	inputs, errs := Inputs("input", forTest(w.Inputs, t.Inputs.Values), t.Inputs.Values, Known{Vars: vars, Files: p.IR.Files})
	list = append(list, ungiven(t, "inputs", t.Inputs, w.Inputs, errs)...)
	t.Test.Vars, t.Test.Inputs = vars, inputs
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
func ungiven(t *check.Test, attr string, given check.Given, decls []ir.Variable, errs []error) (list diag.List) {
	for _, err := range errs {
		var e *InputError
		if !errors.As(err, &e) {
			continue // all of them are
		}
		declared := slices.ContainsFunc(decls, func(d ir.Variable) bool { return d.Name == e.Name })
		d := diag.Diagnostic{Code: "F0299", Subject: t.Place(given, e.Name, declared), Context: fmt.Sprintf("test %q", t.Name), Summary: e.Message,
			Detail: strings.TrimSuffix(e.Hint, "?") + "."}
		if strings.HasSuffix(e.Hint, "?") {
			d.Detail = e.Hint
		}
		if _, there := given.Values[e.Name]; !there || e.Hint == "" {
			d.Detail = fmt.Sprintf("Write it into the test:  %s = { %s = … }.", attr, e.Name)
		}
		list = append(list, d)
	}
	return list
}
