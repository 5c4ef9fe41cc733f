package values

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/args"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/given"
)

// Renewal lists the secrets that may have another value than in the run so far. The zero value allows none.
type Renewal struct {
	All   bool
	Names []string // of variables and inputs
}

// allows reports whether the renewal includes a secret; ref is the name that the secret is read by.
func (r Renewal) allows(ref string) bool {
	_, name, _ := strings.Cut(ref, ".")
	return r.All || slices.Contains(r.Names, name)
}

// check refuses names that are not names of the run's secrets.
func (r Renewal) check(marks map[string]event.Secret) (problems []error) {
	for _, name := range r.Names {
		_, variable := marks["var."+name]
		if _, input := marks["input."+name]; !variable && !input {
			problems = append(problems, fmt.Errorf("--new-secret %s: the run has no sensitive variable or input of this name", name))
		}
	}
	return problems
}

// FindSecrets gets a run's secrets again, with the values of the command line. renewed has the new
// marks of secrets that may have another value.
func (r *Reader) FindSecrets(run string, first *event.RunStarted, p *ir.Program, o *args.Given, may Renewal) (
	held map[string]value.Value, renewed map[string]event.Secret, err error,
) {
	variables, declared := given.Sensitive(first, p)
	world := r.argsWorld()
	vars, problems, err := r.readVariables(variables, o, world)
	if err != nil {
		return nil, nil, err
	}
	pairs, err := o.Inputs.Read("--input", world)
	if err != nil {
		return nil, nil, err
	}
	inputs := given.NewValues()
	problems = append(problems, addPairs(inputs, pairs, declared)...)
	problems = append(problems, refuseFixed("variable", vars, variables)...)
	problems = append(problems, refuseFixed("input", inputs, declared)...)
	problems = append(problems, may.check(first.Secrets)...)
	held, renewed, more := given.Search{First: first, Program: p, Vars: vars, Inputs: inputs, Renew: may.allows, LookupEnv: r.LookupEnv}.Find()
	problems = append(problems, more...)
	var lines []string
	for _, p := range problems {
		if p != nil {
			lines = append(lines, "\n  "+describeSecret(p))
		}
	}
	if lines != nil {
		return nil, nil, &args.Error{Message: fmt.Sprintf("run %s cannot continue with these values:%s", run, strings.Join(lines, ""))}
	}
	return held, renewed, nil
}

// refuseFixed refuses values that a run has kept.
func refuseFixed(kind string, g given.Values, secrets []ir.Variable) (problems []error) {
	for _, name := range value.Keys(g.Values) {
		sensitive := slices.ContainsFunc(secrets, func(d ir.Variable) bool { return d.Name == name })
		if !sensitive && g.From[name].Kind != given.VarFile { // a file may hold others, too
			problems = append(problems,
				fmt.Errorf("%s %q: a run and its retries keep their values; only sensitive values are given again. A new run takes another value: flowrun apply FILE %s %s=…", kind, name, flagOf(kind), name))
		}
	}
	return problems
}

// flagOf returns the flag that gives values of a kind.
func flagOf(kind string) string {
	if kind == "input" {
		return "--input"
	}
	return "--var"
}

// describePlace names a place in the words of a user of the flags.
func describePlace(kind string, p given.Place) string {
	switch p.Kind {
	case given.EnvFile:
		return "--env-file " + p.Name
	case given.VarFile:
		return "--var-file " + p.Name
	case given.File:
		return flagOf(kind) + " @" + p.Name
	case given.Told:
		return flagOf(kind)
	}
	return p.String()
}

// describeFile adds the flag that names the file to an error of the file.
func describeFile(flag string, err error) string {
	if errors.As(err, new(*fs.PathError)) {
		return flag + ": " + err.Error()
	}
	return flag + " " + err.Error()
}

// describeSecret explains an error about a secret, and tells the user what to type.
func describeSecret(err error) string {
	var p *given.Problem
	if !errors.As(err, &p) {
		return err.Error()
	}
	flag, then, now := flagOf(p.Kind), describePlace(p.Kind, p.Then), describePlace(p.Kind, p.Now)
	is := fmt.Sprintf("the %s %q is sensitive, and ", p.Kind, p.Name)
	switch p.Flaw {
	case given.Unreadable:
		why := p.Err.Error()
		if p.Then.Kind == given.EnvFile || p.Then.Kind == given.VarFile {
			file, _, _ := strings.Cut(then, " ")
			why = describeFile(file, p.Err)
		}
		return fmt.Sprintf("%scame from %s: %s", is, then, why)
	case given.Missing:
		place := then + ":"
		if p.Then.Kind == given.Env {
			place = fmt.Sprintf("the environment: set %s again, or", p.Then.Name)
		}
		return fmt.Sprintf("%scame from %s give it again with %s %s=VALUE, or %s-from %s=FILE", is, place, flag, p.Name, flag, p.Name)
	case given.Unfit:
		return fmt.Sprintf("%s: %v", now, p.Err)
	}
	renew := "; to continue with the new value: --new-secret " + p.Name
	if p.Now == p.Then {
		return fmt.Sprintf("%snot the value that the run began with (%s)%s", is, now, renew)
	}
	return fmt.Sprintf("%snot the value that the run began with (now %s, then %s)%s", is, now, then, renew)
}
