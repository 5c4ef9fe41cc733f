package app

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// envVar stands before a variable's name in the environment.
const envVar = "FLOWRUN_VAR_"

// values completes the inputs of the workflow and the variables of the program with what was given: a variable is taken
// from the environment, overridden by files in their order, overridden by --var.
func (a *app) values(p *program, w *ir.Workflow, o *args.Apply) (inputs, vars map[string]value.Value, err error) {
	var problems []error
	given := map[string]value.Value{}
	for _, d := range p.ir.Variables {
		if text, ok := a.lookupEnv(envVar + d.Name); ok {
			v, err := dsl.ParseInput(d, text)
			problems = append(problems, from(envVar+d.Name, err))
			given[d.Name] = v
		}
	}
	for _, file := range o.VarFiles {
		more, err := varFile(file)
		if err != nil {
			return nil, nil, err
		}
		for name, v := range more {
			given[name] = v
		}
	}
	world := args.World{Stdin: a.Stdin, ReadFile: os.ReadFile}
	problems = append(problems, flagged("--var", o.Vars, p.ir.Variables, given, world)...)
	vars, more := dsl.Inputs("variable", p.ir.Variables, given)
	problems = append(problems, more...)

	given = map[string]value.Value{}
	problems = append(problems, flagged("--input", o.Inputs, w.Inputs, given, world)...)
	inputs, more = dsl.Inputs("input", w.Inputs, given)
	return inputs, vars, usage(append(problems, more...))
}

// flagged reads the pairs of a flag by the declared types. An undeclared name goes through: dsl.Inputs knows the nearest.
func flagged(flag string, texts []string, decls []ir.Variable, given map[string]value.Value, w args.World) (problems []error) {
	pairs, err := args.Pairs(flag, texts, w)
	if err != nil {
		return []error{err}
	}
	for _, pair := range pairs {
		given[pair.Name] = pair.Text
		for _, d := range decls {
			if d.Name != pair.Name {
				continue
			}
			v, err := dsl.ParseInput(d, pair.Text)
			if err != nil {
				problems = append(problems, from(flag, err))
				v = d.Default
			}
			given[d.Name] = v
		}
	}
	return problems
}

// from says where a value came from.
func from(where string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", where, err)
}

// usage joins what is wrong with the values, as one error about the command line.
func usage(problems []error) error {
	var lines []string
	seen := map[string]bool{}
	for _, p := range problems {
		var in *dsl.InputError
		if p == nil || errors.As(p, &in) && seen[in.Name] {
			continue // an ill-typed value is not missing as well
		}
		if in != nil {
			seen[in.Name] = true
		}
		lines = append(lines, p.Error())
	}
	switch len(lines) {
	case 0:
		return nil
	case 1:
		return &args.Error{Message: lines[0]}
	}
	return &args.Error{Message: "these values do not fit:\n  " + strings.Join(lines, "\n  ")}
}

// varFile reads variables from a file: attributes with literal values, or one JSON object.
func varFile(name string) (map[string]value.Value, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, args.Errorf("--var-file: %v", err)
	}
	if filepath.Ext(name) == ".json" || bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		v, err := value.Decode(data)
		object, ok := v.(map[string]any)
		if err == nil && !ok {
			err = errors.New("one JSON object is needed")
		}
		if err != nil {
			return nil, args.Errorf("--var-file %s: %v", name, err)
		}
		return object, nil
	}
	return literals(name, data)
}

func literals(name string, data []byte) (map[string]value.Value, error) {
	f, list := syntax.Parse(name, data)
	if len(f.Body.Blocks) > 0 {
		return nil, args.Errorf("--var-file %s: a line is name = value; blocks have no place here", f.Body.Blocks[0].Range)
	}
	out := map[string]value.Value{}
	for _, attr := range f.Body.Attrs {
		e, found := expr.Value(attr.Expr, f.Src, &expr.Env{})
		if list = append(list, found...); e != nil && e.Kind == ir.Const {
			out[attr.Name] = e.Const
		}
	}
	if list.HasErrors() {
		return nil, args.Errorf("--var-file %s: %s", list[0].Subject, list[0].Summary)
	}
	return out, nil
}
