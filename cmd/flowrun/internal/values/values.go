// Package values reads the values that the flags of a command give to a workflow: inputs and variables, from the command line, files and
// the environment, and the sensitive ones again when a run goes on.
//
// Package given knows places and hashes; this package knows the flags, and says in their words what does not fit. It starts nothing.
// What always holds: no error quotes a value. Enter at [Reader.Read] and [Reader.FindSecrets].
package values

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/runner/given"
)

// Reader reads values. All fields must be set.
type Reader struct {
	LookupEnv func(name string) (text string, ok bool)
	Stdin     io.Reader
	Note      func(text string) // hears news for the user
}

// Read completes the inputs of the workflow and the variables of the program with the given
// values.
func (r *Reader) Read(p *ir.Program, w *ir.Workflow, o *args.Given) (inputs, vars given.Values, err error) {
	world := r.argsWorld()
	vars, problems, err := r.readVariables(p.Variables, o, world)
	if err != nil {
		return inputs, vars, err
	}
	all, more := dsl.Inputs("variable", p.Variables, vars.Values, dsl.Known{Files: p.Files})
	vars.Values = all
	elsewhere(more, w.Inputs, "It is an input of the workflow:  --input")
	problems = append(problems, nameFiles(more, vars.From)...)

	pairs, err := o.Inputs.Read("--input", world)
	if err != nil {
		return inputs, vars, err
	}
	inputs = given.NewValues()
	problems = append(problems, addPairs(inputs, pairs, w.Inputs)...)
	inputs.Values, more = dsl.Inputs("input", w.Inputs, inputs.Values, dsl.Known{Vars: vars.Values, Files: p.Files})
	elsewhere(more, p.Variables, "It is a variable of the program:  --var")
	return inputs, vars, Join(append(problems, more...))
}

// elsewhere says of names that are not declared that they are among the declarations of the other kind.
func elsewhere(problems []error, others []ir.Variable, hint string) {
	for _, err := range problems {
		var e *dsl.InputError
		if errors.As(err, &e) && strings.HasPrefix(e.Message, "There is no ") && slices.ContainsFunc(others, func(d ir.Variable) bool { return d.Name == e.Name }) {
			e.Hint = fmt.Sprintf("%s %s=…", hint, e.Name)
		}
	}
}

// readVariables collects the given values of variables. A later source overrides an earlier one:
// the environment, environment files, variable files in their order, --var.
func (r *Reader) readVariables(decls []ir.Variable, o *args.Given, world *args.World) (g given.Values, problems []error, err error) {
	g = given.NewValues()
	problems = addTexts(g, decls, func(name string) (string, given.Place, bool) {
		text, ok := r.LookupEnv(given.VarPrefix + name)
		return text, given.Place{Kind: given.Env, Name: given.VarPrefix + name}, ok
	})
	for _, f := range o.EnvFiles {
		texts, err := given.ReadEnvFile(f)
		if err != nil {
			return g, nil, args.Errorf("%s", describeFile("--env-file", err))
		}
		problems = append(problems, addTexts(g, decls, func(name string) (string, given.Place, bool) {
			text, ok := texts.Variable(name)
			return text, given.Place{Kind: given.EnvFile, Name: f}, ok
		})...)
	}
	for _, f := range o.VarFiles {
		more, err := given.ReadVarFile(f)
		if err != nil {
			return g, nil, args.Errorf("%s", describeFile("--var-file", err))
		}
		for name, v := range more {
			g.Values[name], g.From[name] = v, given.Place{Kind: given.VarFile, Name: f}
		}
	}
	pairs, err := o.Vars.Read("--var", world)
	return g, append(problems, addPairs(g, pairs, decls)...), err
}

// argsWorld reads values from files and the environment. In CI, texts often come from strangers:
// there no text may read a file.
func (r *Reader) argsWorld() *args.World {
	return &args.World{Stdin: r.Stdin, ReadFile: given.ReadBounded, Plain: r.ciVariable(), Note: r.Note}
}

// ciVariable returns the variable that marks CI, or "" outside CI.
func (r *Reader) ciVariable() string {
	for _, name := range []string{"CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD"} {
		text, _ := r.LookupEnv(name)
		switch strings.ToLower(text) {
		case "", "0", "false":
		default:
			return name
		}
	}
	return ""
}

// addTexts parses texts by the declared types.
func addTexts(g given.Values, decls []ir.Variable, lookup func(name string) (text string, from given.Place, ok bool)) (problems []error) {
	for _, d := range decls {
		text, place, ok := lookup(d.Name)
		if !ok {
			continue
		}
		err := args.IsText("its value", text)
		if err == nil {
			g.Values[d.Name], err = dsl.ParseInput(d, text)
			g.From[d.Name] = place
		}
		said := describePlace("variable", place)
		if place.Kind == given.Env {
			said = place.Name
		}
		problems = append(problems, from(said, err))
	}
	return problems
}

// addPairs parses values of a flag by the declared types. An undeclared name passes: dsl.Inputs
// suggests the nearest name.
func addPairs(g given.Values, pairs []args.Pair, decls []ir.Variable) (problems []error) {
	for _, pair := range pairs {
		place := given.Place{Kind: given.Told}
		flag, path, isFile := strings.Cut(pair.From, " @")
		if isFile {
			place = given.Place{Kind: given.File, Name: path}
		}
		g.Values[pair.Name], g.From[pair.Name] = pair.Text, place
		for _, d := range decls {
			if d.Name != pair.Name {
				continue
			}
			v, err := dsl.ParseInput(d, pair.Text)
			if err != nil {
				problems = append(problems, from(flag, err))
				v = d.Default
			}
			g.Values[d.Name] = v
		}
	}
	return problems
}

// nameFiles adds to each problem the file that its value came from.
func nameFiles(problems []error, places map[string]given.Place) []error {
	for i, err := range problems {
		var in *dsl.InputError
		if errors.As(err, &in) && places[in.Name].Kind == given.VarFile {
			problems[i] = from(describePlace("variable", places[in.Name]), err)
		}
	}
	return problems
}

// from adds the origin of a value to an error about the value.
func from(where string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", where, err)
}

// Join joins the problems of the given values into one error about the command line.
func Join(problems []error) error {
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
