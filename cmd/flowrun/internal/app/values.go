package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	given, file := map[string]value.Value{}, map[string]string{}
	for _, d := range p.ir.Variables {
		if text, ok := a.lookupEnv(envVar + d.Name); ok {
			err := args.IsText("its value", text)
			if err == nil {
				given[d.Name], err = dsl.ParseInput(d, text)
			}
			problems = append(problems, from(envVar+d.Name, err))
		}
	}
	for _, f := range o.VarFiles {
		more, err := varFile(f)
		if err != nil {
			return nil, nil, err
		}
		for name, v := range more {
			given[name], file[name] = v, "--var-file "+f
		}
	}
	world := args.World{Stdin: a.Stdin, ReadFile: readSome}
	pairs, err := args.Pairs("--var", o.Vars, world)
	if err != nil {
		return nil, nil, err
	}
	for _, pair := range pairs {
		delete(file, pair.Name)
	}
	problems = append(problems, fit(pairs, p.ir.Variables, given)...)
	vars, more := dsl.Inputs("variable", p.ir.Variables, given, dsl.Known{Files: p.ir.Files})
	problems = append(problems, placed(more, file)...)

	if pairs, err = args.Pairs("--input", o.Inputs, world); err != nil {
		return nil, nil, err
	}
	given = map[string]value.Value{}
	problems = append(problems, fit(pairs, w.Inputs, given)...)
	inputs, more = dsl.Inputs("input", w.Inputs, given, dsl.Known{Vars: vars, Files: p.ir.Files})
	return inputs, vars, usage(append(problems, more...))
}

// placed says of each problem which file its value came from.
func placed(problems []error, file map[string]string) []error {
	for i, err := range problems {
		var in *dsl.InputError
		if errors.As(err, &in) && file[in.Name] != "" {
			problems[i] = from(file[in.Name], err)
		}
	}
	return problems
}

// readSome reads at most so many bytes of a file.
func readSome(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// fit reads pairs by the declared types. An undeclared name goes through: dsl.Inputs knows the nearest.
func fit(pairs []args.Pair, decls []ir.Variable, given map[string]value.Value) (problems []error) {
	for _, pair := range pairs {
		given[pair.Name] = pair.Text
		for _, d := range decls {
			if d.Name != pair.Name {
				continue
			}
			v, err := dsl.ParseInput(d, pair.Text)
			if err != nil {
				problems = append(problems, from(pair.From, err))
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
	data, err := readSome(name, args.MaxVarFile+1)
	if err != nil {
		return nil, args.Errorf("--var-file: %v", err)
	}
	if len(data) > args.MaxVarFile {
		return nil, args.Errorf("--var-file %s is larger than %d bytes", name, args.MaxVarFile)
	}
	if err := args.IsText("--var-file "+name, string(data)); err != nil {
		return nil, err
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
		e, found := expr.Value(attr.Expr(), f.Src, &expr.Env{})
		if list = append(list, found...); e != nil && e.Kind == ir.Const {
			out[attr.Name] = e.Const
		}
	}
	if list.HasErrors() {
		return nil, args.Errorf("--var-file %s: %s", list[0].Subject, list[0].Summary)
	}
	return out, nil
}
