package app

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/secret"
)

// byDefault is where a secret comes from that the file itself holds.
const byDefault = "default"

// seal takes the sensitive values out of what a run is given and puts them into held, by the names under which they are read.
// What is recorded of them is returned.
func seal(held map[string]value.Value, variables []ir.Variable, vars given, declared []ir.Variable, inputs given) (
	map[string]event.Secret, error,
) {
	marks := map[string]event.Secret{}
	var problems []error
	for _, part := range []struct {
		root, kind string
		decls      []ir.Variable
		given      given
	}{{"var.", "variable", variables, vars}, {"input.", "input", declared, inputs}} {
		for _, d := range part.decls {
			if !d.Sensitive {
				continue
			}
			v := part.given.values[d.Name]
			delete(part.given.values, d.Name)
			if flaw := secret.Flaw(v); flaw != "" {
				problems = append(problems, fmt.Errorf("the sensitive %s %q: %s", part.kind, d.Name, flaw))
			}
			held[part.root+d.Name] = v
			marks[part.root+d.Name] = secret.Seal(lasting(part.given.from[d.Name]), salt(), v)
		}
	}
	all := make([]any, 0, len(held))
	for _, name := range value.Keys(held) {
		all = append(all, held[name])
	}
	if flaw := secret.Flaw(all); flaw != "" && problems == nil {
		problems = append(problems, fmt.Errorf("all that is sensitive, together: %s", flaw))
	}
	if len(marks) == 0 {
		marks = nil
	}
	return marks, usage(problems)
}

// salt makes two runs with the same secret look different.
func salt() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// lasting is a place as it is recorded: a path in it means the same wherever resume is called.
func lasting(from string) string {
	flag, path, ok := strings.Cut(from, " ")
	path, at := strings.CutPrefix(path, "@")
	switch {
	case from == "":
		return byDefault
	case !ok || flag == "env":
		return from
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if at {
		path = "@" + path
	}
	return flag + " " + path
}

// renewal says which secrets may have another value than the run had so far.
type renewal struct {
	all   bool
	names []string
}

// may tells whether a secret is one of them, by the name under which it is read.
func (r renewal) may(ref string) bool {
	_, name, _ := strings.Cut(ref, ".")
	return r.all || slices.Contains(r.names, name)
}

// check refuses names of what is no secret of a run.
func (r renewal) check(marks map[string]event.Secret) (problems []error) {
	for _, name := range r.names {
		_, variable := marks["var."+name]
		if _, input := marks["input."+name]; !variable && !input {
			problems = append(problems, fmt.Errorf("--new-secret %s: the run has no sensitive variable or input of this name", name))
		}
	}
	return problems
}

// unseal gets a run's secrets again: as the command line gives them, or from where they came from, or from the environment. Their
// hashes tell that they are the same. Of those that may have another value, the new seals are returned.
func (a *app) unseal(run string, first *event.RunStarted, p *ir.Program, o *args.Given, may renewal) (
	held map[string]value.Value, renewed map[string]event.Secret, err error,
) {
	var variables, inputs []ir.Variable
	for _, d := range p.Variables {
		if _, ok := first.Secrets["var."+d.Name]; ok {
			variables = append(variables, d)
		}
	}
	if w := p.Workflow(first.Workflow); w != nil {
		for _, d := range w.Inputs {
			if _, ok := first.Secrets["input."+d.Name]; ok {
				inputs = append(inputs, d)
			}
		}
	}
	world := a.world()
	vars, problems, err := a.variables(variables, o, world)
	if err != nil {
		return nil, nil, err
	}
	pairs, err := o.Inputs.Read("--input", world)
	if err != nil {
		return nil, nil, err
	}
	ins := newGiven()
	problems = append(problems, ins.pairs(pairs, inputs)...)
	problems = append(problems, fixed("variable", vars, variables)...)
	problems = append(problems, fixed("input", ins, inputs)...)
	problems = append(problems, may.check(first.Secrets)...)
	r := &reopening{app: a, first: first, files: p.Files, may: may, held: map[string]value.Value{}, renewed: map[string]event.Secret{}}
	for _, d := range variables {
		problems = append(problems, r.secret("var."+d.Name, "variable", d, vars))
	}
	for _, d := range inputs {
		problems = append(problems, r.secret("input."+d.Name, "input", d, ins))
	}
	problems = append(problems, r.tooMuch())
	var lines []string
	for _, p := range problems {
		if p != nil {
			lines = append(lines, "\n  "+p.Error())
		}
	}
	if lines != nil {
		return nil, nil, &args.Error{Message: fmt.Sprintf("run %s cannot go on with these values:%s", run, strings.Join(lines, ""))}
	}
	return r.held, r.renewed, nil
}

// fixed refuses values that a run has kept.
func fixed(kind string, g given, secrets []ir.Variable) (problems []error) {
	for _, name := range value.Keys(g.values) {
		known := false
		for _, d := range secrets {
			known = known || d.Name == name
		}
		if !known && !strings.HasPrefix(g.from[name], "--var-file ") { // a file may hold others, too
			problems = append(problems,
				fmt.Errorf("%s %q: a run keeps what it began with, and only what is sensitive is given again", kind, name))
		}
	}
	return problems
}

// reopening gets the secrets of a run.
type reopening struct {
	*app
	first   *event.RunStarted
	files   map[string]string
	may     renewal
	held    map[string]value.Value
	renewed map[string]event.Secret
}

// tooMuch tells that new values are, with the others, more than can be masked.
func (r *reopening) tooMuch() error {
	if len(r.renewed) == 0 {
		return nil
	}
	all := make([]any, 0, len(r.held))
	for _, name := range value.Keys(r.held) {
		all = append(all, r.held[name])
	}
	if flaw := secret.Flaw(all); flaw != "" {
		return fmt.Errorf("all that is sensitive, together: %s", flaw)
	}
	return nil
}

// secret gets one of them.
func (r *reopening) secret(ref, kind string, d ir.Variable, g given) error {
	mark := r.first.Secrets[ref]
	v, from := g.values[d.Name], g.from[d.Name]
	if from == "" || strings.HasPrefix(from, "env ") {
		again, err := r.again(kind, d, mark.From)
		if err != nil {
			return fmt.Errorf("the %s %q is sensitive, and came from %s: %w", kind, d.Name, mark.From, err)
		}
		if again != nil {
			v, from = *again, mark.From
		}
	}
	if from == "" {
		flag := "--var"
		if kind == "input" {
			flag = "--input"
		}
		place := mark.From
		if name, env := strings.CutPrefix(place, "env "); env {
			place = fmt.Sprintf("the environment: set %s again, or", name)
		} else {
			place += ":"
		}
		return fmt.Errorf("the %s %q is sensitive, and came from %s give it again with %s %s=VALUE, or %s-from %s=FILE",
			kind, d.Name, place, flag, d.Name, flag, d.Name)
	}
	judged := d
	d.Validation, d.Enum = nil, nil // the same value has been judged before
	whole, errs := dsl.Inputs(kind, []ir.Variable{d}, map[string]value.Value{d.Name: v}, dsl.Known{})
	if len(errs) > 0 {
		return fmt.Errorf("%s: %w", from, errs[0])
	}
	r.held[ref] = whole[d.Name]
	switch {
	case secret.Same(mark, r.held[ref]):
		return nil
	case r.may.may(ref):
		return r.renew(ref, kind, judged, from)
	case from == mark.From:
		return fmt.Errorf("the %s %q is sensitive, and not what the run began with any more (%s)%s", kind, d.Name, from, toRenew(d.Name))
	}
	return fmt.Errorf("the %s %q is sensitive, and not what the run began with (now %s, then %s)%s", kind, d.Name, from, mark.From, toRenew(d.Name))
}

// toRenew says how another value is taken.
func toRenew(name string) string { return "; to go on with this one: --new-secret " + name }

// renew judges and seals a value that is another one than before.
func (r *reopening) renew(ref, kind string, d ir.Variable, from string) error {
	v := r.held[ref]
	if _, errs := dsl.Inputs(kind, []ir.Variable{d}, map[string]value.Value{d.Name: v}, dsl.Known{Vars: r.first.Vars, Files: r.files}); len(errs) > 0 {
		return fmt.Errorf("%s: %w", from, errs[0])
	}
	if flaw := secret.Flaw(v); flaw != "" {
		return fmt.Errorf("the sensitive %s %q: %s", kind, d.Name, flaw)
	}
	mark := secret.Seal(lasting(from), salt(), v)
	mark.Differs = true
	r.renewed[ref] = mark
	return nil
}

// again reads a secret where it was read before; nil where that is not possible, or nothing is there now.
func (a *app) again(kind string, d ir.Variable, where string) (*value.Value, error) {
	flag, path, _ := strings.Cut(where, " ")
	text, ok := "", false
	switch path, at := strings.CutPrefix(path, "@"); {
	case where == byDefault:
		return &d.Default, nil
	case flag == "env":
		text, ok = a.lookupEnv(path)
	case flag == "--env-file":
		texts, err := envFile(path)
		if err != nil {
			return nil, err
		}
		text, ok = texts.variable(d.Name)
	case flag == "--var-file":
		all, err := varFile(path)
		if err != nil {
			return nil, err
		}
		if v, ok := all[d.Name]; ok {
			return &v, nil
		}
	case at:
		b, err := readSome(path, args.MaxFile+1)
		if err != nil {
			return nil, err
		}
		text, ok = string(b), true
	}
	if !ok {
		return nil, nil
	}
	v, err := dsl.ParseInput(d, text)
	return &v, err
}

// environment is what a file of an environment holds.
type environment map[string]string

// variable is what it gives for a variable: FLOWRUN_VAR_x counts before x. All other names are other programs'.
func (e environment) variable(name string) (string, bool) {
	text, ok := e[runner.VarPrefix+name]
	if !ok {
		text, ok = e[name]
	}
	return text, ok
}

// envFile reads a file of an environment.
func envFile(name string) (environment, error) {
	data, err := readSome(name, args.MaxVarFile+1)
	if err != nil {
		return nil, args.Errorf("--env-file: %v", err)
	}
	if len(data) > args.MaxVarFile {
		return nil, args.Errorf("--env-file %s is larger than %d bytes", name, args.MaxVarFile)
	}
	if err := args.IsText("--env-file "+name, string(data)); err != nil {
		return nil, err
	}
	texts, err := args.Env(string(data))
	if err != nil {
		return nil, args.Errorf("--env-file %s: %v", name, err)
	}
	return texts, nil
}
