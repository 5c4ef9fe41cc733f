package dsl

import (
	"bytes"
	"fmt"
	"io/fs"
	pathpkg "path"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// VariablesSuffix ends the name of a file that gives the variables of a program values in an environment. Such a file is never part of a
// program. It has lines  name = value,  or is a JSON object.
const VariablesSuffix = ".flowvars"

// IsVariables tells from the name of a file that it gives variables values.
func IsVariables(name string) bool { return strings.HasSuffix(name, VariablesSuffix) }

// CheckVariables finds what is wrong with a file of variables of the program at a path. A sensitive variable that the file does not give
// has its value from elsewhere. No source of the file is among those of the program, for a value may be a secret. Errors of the program are
// the result where there are some.
func CheckVariables(fsys fs.FS, name, path string, opts Options) (*Program, diag.List) {
	p, list := Load(fsys, path, opts)
	if list.HasErrors() {
		return p, list
	}
	shown := opts.show(name)
	data, err := readFile(fsys, name, opts)
	if err != nil {
		return p, diag.List{unreadable(shown, err)}
	}
	values, places, list := readVariables(shown, data, opts)
	if list.HasErrors() {
		return p, list.Sort()
	}
	_, problems := Inputs("variable", elsewhere(p.IR.Variables), values, Known{Files: p.IR.Files})
	for _, problem := range problems {
		d := diag.Diagnostic{Code: "F0390", Subject: diag.Range{File: shown}, Summary: problem.Error()}
		if in, ok := problem.(*InputError); ok {
			d.Summary, d.Detail = in.Message, in.Hint
			if at, given := places[in.Name]; given {
				d.Subject = at
			} else {
				d.Detail = fmt.Sprintf("Write a line:  %s = VALUE.", in.Name)
			}
		}
		list = append(list, d)
	}
	return p, list.Sort()
}

// elsewhere gives the sensitive variables without a default one, for their values come from elsewhere.
func elsewhere(decls []ir.Variable) []ir.Variable {
	decls = append([]ir.Variable{}, decls...)
	for i := range decls {
		if d := &decls[i]; d.Sensitive && !d.HasDefault {
			d.HasDefault, d.Type, d.Validation, d.Enum = true, d.Type.OrNull(), nil, nil
		}
	}
	return decls
}

// readVariables reads the values of a file, and where each name stands. JSON has no places.
func readVariables(shown string, data []byte, opts Options) (map[string]value.Value, map[string]diag.Range, diag.List) {
	values, places := map[string]value.Value{}, map[string]diag.Range{}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		v, err := value.Decode(data)
		object, ok := v.(map[string]any)
		if err != nil || !ok {
			return nil, nil, diag.List{{Code: "F0390", Subject: diag.Range{File: shown}, Summary: "The JSON of " + shown + " cannot be read", Detail: "One object is needed. Texts need quotes, numbers have at most 15 digits, and each name appears once."}}
		}
		return object, places, nil
	}
	f, list := opts.Limits.Parse(shown, data)
	for _, b := range f.Body.Blocks {
		list = append(list, diag.Diagnostic{Code: "F0390", Subject: b.Range, Summary: "A file of variables has a block", Detail: "A line is  name = value."})
	}
	for _, attr := range f.Body.Attrs {
		e, found := expr.Value(attr.Expr(), f.Src, &expr.Env{})
		list = append(list, found...)
		places[attr.Name] = attr.Range
		if e != nil && e.Kind == ir.Const {
			values[attr.Name] = e.Const
		} else if !found.HasErrors() {
			list = append(list, diag.Diagnostic{Code: "F0390", Subject: places[attr.Name], Summary: fmt.Sprintf("The value of %s is not written out", attr.Name), Detail: "A file of variables has values, which read nothing."})
		}
	}
	return values, places, list
}

// variablesOf checks a file of variables against the program of its folder.
func variablesOf(fsys fs.FS, name string, opts Options) (*Program, diag.List) {
	return CheckVariables(fsys, name, pathpkg.Dir(name), opts)
}
