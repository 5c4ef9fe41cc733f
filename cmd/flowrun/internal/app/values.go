package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
)

// given is what a run is given: values by name, and where each was taken from: "env NAME", "--env-file PATH", "--var-file PATH",
// "--var", "--var @PATH", or "default".
type given struct {
	values map[string]value.Value
	from   map[string]string
}

func newGiven() given { return given{map[string]value.Value{}, map[string]string{}} }

// values completes the inputs of the workflow and the variables of the program with what was given.
func (a *app) values(p *program, w *ir.Workflow, o *args.Given) (inputs, vars given, err error) {
	world := a.world()
	vars, problems, err := a.variables(p.ir.Variables, o, world)
	if err != nil {
		return inputs, vars, err
	}
	all, more := dsl.Inputs("variable", p.ir.Variables, vars.values, dsl.Known{Files: p.ir.Files})
	vars.values = all
	problems = append(problems, placed(more, vars.from)...)

	pairs, err := o.Inputs.Read("--input", world)
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
func (a *app) variables(decls []ir.Variable, o *args.Given, world *args.World) (g given, problems []error, err error) {
	g = newGiven()
	problems = g.environ("env ", decls, func(name string) (string, bool) { return a.lookupEnv(runner.VarPrefix + name) })
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
	pairs, err := o.Vars.Read("--var", world)
	return g, append(problems, g.pairs(pairs, decls)...), err
}

// world is how values are read from elsewhere. In CI, texts often come from people outside: there none of them reads a file.
func (a *app) world() *args.World {
	return &args.World{Stdin: a.Stdin, ReadFile: readSome, Plain: a.ci(), Note: func(text string) { a.err.Printf("flowrun: %s\n", ui.Clean(text)) }}
}

// ci names the variable that says that this is CI, "" elsewhere.
func (a *app) ci() string {
	for _, name := range []string{"CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD"} {
		switch strings.ToLower(a.getenv(name)) {
		case "", "0", "false":
		default:
			return name
		}
	}
	return ""
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
			at, said = place+runner.VarPrefix+d.Name, runner.VarPrefix+d.Name
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
		switch {
		case err != nil:
			return nil, args.Errorf("--var-file %s: its JSON cannot be read%s. %s", name, badPlace(data, err),
				"Texts stand in quotes, numbers have at most 15 digits, and no name stands twice in an object")
		case !ok:
			return nil, args.Errorf("--var-file %s: one JSON object is needed", name)
		}
		return object, nil
	}
	return literals(name, data)
}

// badPlace is where JSON cannot be read. What an error says beside that may quote a secret.
func badPlace(data []byte, err error) string {
	var at int
	if _, no := fmt.Sscanf(err.Error(), "at byte %d:", &at); no != nil || at > len(data) {
		return ""
	}
	line := bytes.Count(data[:at], []byte("\n"))
	return fmt.Sprintf(", at line %d, column %d", line+1, utf8.RuneCount(data[bytes.LastIndexByte(data[:at], '\n')+1:at])+1)
}

// literals reads NAME = VALUE lines. What is wrong is told by its place alone: what stands there may be a secret.
func literals(name string, data []byte) (map[string]value.Value, error) {
	f, list := syntax.Parse(name, data)
	if len(f.Body.Blocks) > 0 && !list.HasErrors() {
		return nil, args.Errorf("--var-file %s: a line is name = value; blocks have no place here", f.Body.Blocks[0].Range)
	}
	out := map[string]value.Value{}
	of := ""
	for _, attr := range f.Body.Attrs {
		e, found := expr.Value(attr.Expr(), f.Src, &expr.Env{})
		if list = append(list, found...); e != nil && e.Kind == ir.Const {
			out[attr.Name] = e.Const
		} else if of == "" && !list[:len(list)-len(found)].HasErrors() {
			of = fmt.Sprintf("the value of %s", attr.Name)
		}
	}
	if list.HasErrors() {
		if of == "" {
			of = "this"
		}
		return nil, args.Errorf("--var-file %s: %s cannot be read. A line is name = value, and a text stands in quotes:  name = \"text\"", list[0].Subject, of)
	}
	return out, nil
}
