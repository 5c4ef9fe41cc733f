package given

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor/secret"
)

// Seal takes the sensitive values out of vars and inputs. held has them by reference, such as var.token; marks is the
// part for the journal, nil if nothing is sensitive.
func Seal(variables []ir.Variable, vars Values, declared []ir.Variable, inputs Values) (held map[string]value.Value, marks map[string]event.Secret, problems []error) {
	held, marks = map[string]value.Value{}, map[string]event.Secret{}
	for _, part := range []struct {
		root, kind string
		decls      []ir.Variable
		given      Values
	}{{"var.", "variable", variables, vars}, {"input.", "input", declared, inputs}} {
		for _, d := range part.decls {
			if !d.Sensitive {
				continue
			}
			v := part.given.Values[d.Name]
			delete(part.given.Values, d.Name)
			if flaw := secret.Flaw(v); flaw != "" {
				problems = append(problems, fmt.Errorf("the sensitive %s %q: %s", part.kind, d.Name, flaw))
			}
			held[part.root+d.Name] = v
			marks[part.root+d.Name] = secret.Seal(part.given.From[d.Name].encode(), newSalt(), v)
		}
	}
	if err := checkTogether(held); err != nil && problems == nil {
		problems = append(problems, err)
	}
	if len(marks) == 0 {
		marks = nil
	}
	return held, marks, problems
}

// checkTogether refuses more secrets than can be masked.
func checkTogether(held map[string]value.Value) error {
	all := make([]any, 0, len(held))
	for _, name := range value.Keys(held) {
		all = append(all, held[name])
	}
	if flaw := secret.Flaw(all); flaw != "" {
		return fmt.Errorf("all that is sensitive, together: %s", flaw)
	}
	return nil
}

// newSalt makes two runs with the same secret look different.
func newSalt() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Sensitive lists the variables and the inputs that are secrets of a run.
func Sensitive(first *event.RunStarted, p *ir.Program) (variables, inputs []ir.Variable) {
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
	return variables, inputs
}

// Flaw is a kind of problem with a secret.
type Flaw string

// The flaws.
const (
	Unreadable Flaw = "unreadable" // the place where it was cannot be read; Problem.Err says why
	Missing    Flaw = "missing"    // nobody gives it, and the place where it was has it no more or cannot be asked
	Unfit      Flaw = "unfit"      // the value is not one that the declaration allows; Problem.Err says why
	Changed    Flaw = "changed"    // the value is another one than the run began with
)

// Problem is why a secret of a run cannot be used.
type Problem struct {
	Kind, Name string // "variable" or "input"
	Flaw       Flaw
	Then, Now  Place // where the run took the value from, and where it was taken from now
	Err        error
}

func (p *Problem) Error() string {
	switch p.Flaw {
	case Unreadable:
		return fmt.Sprintf("the sensitive %s %q came from %s: %v", p.Kind, p.Name, p.Then, p.Err)
	case Missing:
		return fmt.Sprintf("the sensitive %s %q came from %s, and is not available there", p.Kind, p.Name, p.Then)
	case Unfit:
		return fmt.Sprintf("%s: %v", p.Now, p.Err)
	}
	return fmt.Sprintf("the sensitive %s %q is not the value that the run began with (now %s, then %s)", p.Kind, p.Name, p.Now, p.Then)
}

// Unwrap gives Err.
func (p *Problem) Unwrap() error { return p.Err }

// Search says how the secrets of a run are looked for.
type Search struct {
	First   *event.RunStarted
	Program *ir.Program
	// Vars and Inputs are values that somebody gives anew. A value from the environment counts only where the place of then has none.
	Vars, Inputs Values
	// Renew reports whether a secret, by its reference, may have another value than the run began with. nil: no secret may.
	Renew func(ref string) bool
	// Same reports whether a value is the one of a mark; nil means secret.Same.
	Same func(event.Secret, value.Value) bool
	// LookupEnv reads the environment.
	LookupEnv func(name string) (string, bool)
}

// Find gets the secrets of a run again: the values that somebody gives anew, or else the values at their places. The hashes in the journal
// say whether the values have changed; renewed has the new marks of changed values. If there are problems, ignore the other results.
func (s Search) Find() (held map[string]value.Value, renewed map[string]event.Secret, problems []error) {
	if s.Same == nil {
		s.Same = secret.Same
	}
	f := &finder{Search: s, held: map[string]value.Value{}, renewed: map[string]event.Secret{}}
	variables, inputs := Sensitive(s.First, s.Program)
	for _, part := range []struct {
		root, kind string
		decls      []ir.Variable
		given      Values
	}{{"var.", "variable", variables, s.Vars}, {"input.", "input", inputs, s.Inputs}} {
		for _, d := range part.decls {
			if err := f.findOne(part.root+d.Name, part.kind, d, part.given); err != nil {
				problems = append(problems, err)
			}
		}
	}
	if len(f.renewed) > 0 {
		if err := checkTogether(f.held); err != nil {
			problems = append(problems, err)
		}
	}
	return f.held, f.renewed, problems
}

type finder struct {
	Search
	held    map[string]value.Value
	renewed map[string]event.Secret
}

// findOne gets one secret.
func (f *finder) findOne(ref, kind string, d ir.Variable, g Values) error {
	mark := f.First.Secrets[ref]
	p := &Problem{Kind: kind, Name: d.Name, Then: ParsePlace(mark.From), Now: g.From[d.Name]}
	v := g.Values[d.Name]
	if p.Now.Kind == "" || p.Now.Kind == Env {
		again, err := f.readAgain(d, p.Then)
		if err != nil {
			p.Flaw, p.Err = Unreadable, err
			return p
		}
		if again != nil {
			v, p.Now = *again, p.Then
		}
	}
	if p.Now.Kind == "" {
		p.Flaw = Missing
		return p
	}
	judged := d
	d.Validation, d.Enum = nil, nil // the same value has been judged before
	whole, errs := dsl.Inputs(kind, []ir.Variable{d}, map[string]value.Value{d.Name: v}, dsl.Known{})
	if len(errs) > 0 {
		p.Flaw, p.Err = Unfit, errs[0]
		return p
	}
	f.held[ref] = whole[d.Name]
	switch {
	case f.Same(mark, f.held[ref]):
		return nil
	case f.Renew != nil && f.Renew(ref):
		return f.renewMark(ref, judged, p)
	}
	p.Flaw = Changed
	return p
}

// renewMark judges and seals a value that is another one than before.
func (f *finder) renewMark(ref string, d ir.Variable, p *Problem) error {
	v := f.held[ref]
	_, errs := dsl.Inputs(p.Kind, []ir.Variable{d}, map[string]value.Value{d.Name: v}, dsl.Known{Vars: f.First.Vars, Files: f.Program.Files})
	if len(errs) > 0 {
		p.Flaw, p.Err = Unfit, errs[0]
		return p
	}
	if flaw := secret.Flaw(v); flaw != "" {
		return fmt.Errorf("the sensitive %s %q: %s", p.Kind, d.Name, flaw)
	}
	mark := secret.Seal(p.Now.encode(), newSalt(), v)
	mark.Differs = true
	f.renewed[ref] = mark
	return nil
}

// readAgain reads a secret at the place where it was; nil where the place cannot be asked, or has nothing now.
func (f *finder) readAgain(d ir.Variable, p Place) (*value.Value, error) {
	text, ok := "", false
	switch p.Kind {
	case Default:
		return &d.Default, nil
	case Env:
		text, ok = f.LookupEnv(p.Name)
	case EnvFile:
		texts, err := ReadEnvFile(p.Name)
		if err != nil {
			return nil, err
		}
		text, ok = texts.Variable(d.Name)
	case VarFile:
		all, err := ReadVarFile(p.Name)
		if err != nil {
			return nil, err
		}
		if v, ok := all[d.Name]; ok {
			return &v, nil
		}
	case File:
		b, err := ReadBounded(p.Name, MaxFile+1)
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
