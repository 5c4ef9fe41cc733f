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

// given is what a run is given: values by name, and where each was taken from: "env NAME", "--env-file PATH", "--var-file PATH",
// "--var", "--var @PATH", or "default".
type given struct {
	values map[string]value.Value
	from   map[string]string
}

func newGiven() given { return given{map[string]value.Value{}, map[string]string{}} }

// values completes the inputs of the workflow and the variables of the program with what was given.
func (a *app) values(p *program, w *ir.Workflow, o *args.Given) (inputs, vars given, err error) {
	vars, problems, err := a.variables(p.ir.Variables, o)
	if err != nil {
		return inputs, vars, err
	}
	all, more := dsl.Inputs("variable", p.ir.Variables, vars.values, dsl.Known{Files: p.ir.Files})
	vars.values = all
	problems = append(problems, placed(more, vars.from)...)

	pairs, err := args.Pairs("--input", o.Inputs, args.World{Stdin: a.Stdin, ReadFile: readSome})
	if err != nil {
		return inputs, vars, err
	}
	inputs = newGiven()
	problems = append(problems, inputs.pairs(pairs, w.Inputs)...)
	inputs.values, more = dsl.Inputs("input", w.Inputs, inputs.values, dsl.Known{Vars: vars.values, Files: p.ir.Files})
	return inputs, vars, usage(append(problems, more...))
}

// variables gathers what is given for variables: each is taken from the environment, overridden by files of an environment, then by
// files of variables, in their order, then by --var.
func (a *app) variables(decls []ir.Variable, o *args.Given) (g given, problems []error, err error) {
	g = newGiven()
	problems = g.environ("env ", decls, func(name string) (string, bool) { return a.lookupEnv(envVar + name) })
	for _, f := range o.EnvFiles {
		texts, err := envFile(f)
		if err != nil {
			return g, nil, err
		}
		problems = append(problems, g.environ("--env-file "+f, decls, texts.variable)...)
	}
	for _, f := range o.VarFiles {
		more, err := varFile(f)
		if err != nil {
			return g, nil, err
		}
		for name, v := range more {
			g.values[name], g.from[name] = v, "--var-file "+f
		}
	}
	pairs, err := args.Pairs("--var", o.Vars, args.World{Stdin: a.Stdin, ReadFile: readSome})
	return g, append(problems, g.pairs(pairs, decls)...), err
}

// environ reads texts by the declared types. A place that ends in a space is completed with the name of the environment's variable.
func (g *given) environ(place string, decls []ir.Variable, lookup func(string) (string, bool)) (problems []error) {
	for _, d := range decls {
		text, ok := lookup(d.Name)
		if !ok {
			continue
		}
		at, said := place, place
		if strings.HasSuffix(place, " ") {
			at, said = place+envVar+d.Name, envVar+d.Name
		}
		err := args.IsText("its value", text)
		if err == nil {
			g.values[d.Name], err = dsl.ParseInput(d, text)
			g.from[d.Name] = at
		}
		problems = append(problems, from(said, err))
	}
	return problems
}

// pairs reads values of a flag by the declared types. An undeclared name goes through: dsl.Inputs knows the nearest.
func (g *given) pairs(pairs []args.Pair, decls []ir.Variable) (problems []error) {
	for _, pair := range pairs {
		g.values[pair.Name], g.from[pair.Name] = pair.Text, pair.From
		for _, d := range decls {
			if d.Name != pair.Name {
				continue
			}
			v, err := dsl.ParseInput(d, pair.Text)
			if err != nil {
				flag, _, _ := strings.Cut(pair.From, " ")
				problems = append(problems, from(flag, err))
				v = d.Default
			}
			g.values[d.Name] = v
		}
	}
	return problems
}

// placed says of each problem which file its value came from.
func placed(problems []error, places map[string]string) []error {
	for i, err := range problems {
		var in *dsl.InputError
		if errors.As(err, &in) && strings.HasPrefix(places[in.Name], "--var-file ") {
			problems[i] = from(places[in.Name], err)
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
