package dsl

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/syntax"
	"github.com/flowrun/flowrun/dsl/value"
)

// MaxInputBytes bounds one value of the command line.
const MaxInputBytes = 1 << 20

// An InputError tells which variable or input a value is not for, or is missing for. It has no place in a file unless a
// declaration does.
type InputError struct {
	Name    string // of the variable or input
	Message string // a sentence without its full stop
	Hint    string // what to do; may be empty
}

func (e *InputError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ". " + e.Hint
}

// ParseInput reads a value of the command line for a variable or an input by its declared type: a string is taken as it
// is, everything else is a literal of the language, of which JSON is a part. For type any, text that is not a literal is a
// string, unless it begins as JSON does. The error is an *InputError.
func ParseInput(decl ir.Variable, text string) (value.Value, error) {
	v, err := parseInput(decl, text)
	return v, hidden(decl, err)
}

func parseInput(decl ir.Variable, text string) (value.Value, error) {
	if len(text) > MaxInputBytes {
		return nil, &InputError{decl.Name, fmt.Sprintf("%s has %d bytes", decl.Name, len(text)), fmt.Sprintf("A value may have at most %d MiB; give the name of a file instead", MaxInputBytes>>20)}
	}
	if decl.Type.Kind == value.StringT {
		return fit(decl, text)
	}
	v, err := literal(text)
	switch {
	case err == nil:
		return fit(decl, v)
	case decl.Type.IsAny():
		v, err := value.JSONOrText(text)
		var broken *value.BrokenJSON
		if errors.As(err, &broken) {
			return nil, &InputError{decl.Name, fmt.Sprintf("%s is not JSON: %s", decl.Name, broken.Fault), value.HowToQuote}
		}
		return fit(decl, v)
	}
	var d diag.Diagnostic
	if errors.As(err, &d) && d.Code == tooLarge && decl.Type.Kind == value.NumberT {
		why, _, _ := strings.Cut(uncapital(d.Detail), ";")
		return nil, &InputError{decl.Name, fmt.Sprintf("%s cannot be %.60s: %s", decl.Name, text, why), "Declare it as a string to keep all digits"}
	}
	return nil, &InputError{decl.Name, fmt.Sprintf("%s must be a %s; %.60q is not one", decl.Name, decl.Type, text), example(decl.Type)}
}

// hidden is an error about a value without the value, where that is sensitive.
func hidden(d ir.Variable, err error) error {
	if err == nil || !d.Sensitive {
		return err
	}
	return &InputError{d.Name, fmt.Sprintf("the value of %s does not fit", d.Name), fmt.Sprintf("A %s is needed; the value is sensitive and not shown", d.Type)}
}

// tooLarge is the code of a number that cannot be held.
const tooLarge = "F0312"

func uncapital(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// fit converts a value to the declared type.
func fit(decl ir.Variable, v value.Value) (value.Value, error) {
	if err := undeclared(v, decl.Type, ""); err != nil {
		return nil, &InputError{decl.Name, fmt.Sprintf("%s: %v", decl.Name, err), ""}
	}
	v, err := value.Convert(v, decl.Type)
	if err != nil {
		return nil, &InputError{decl.Name, fmt.Sprintf("%s: %v", decl.Name, err), example(decl.Type)}
	}
	return v, listed(decl, v)
}

// literal evaluates a literal: an expression that reads nothing and calls nothing that the bounds would not allow.
func literal(text string) (value.Value, error) {
	f, list := syntax.Parse("value", []byte("v = "+strings.TrimSpace(text)+"\n"))
	if list.HasErrors() {
		return nil, list[0]
	}
	if len(f.Body.Attrs) != 1 || len(f.Body.Blocks) != 0 {
		return nil, fmt.Errorf("more than one value")
	}
	x := f.Body.Attrs[0].Expr()
	if len(hclsyntax.Variables(x)) > 0 {
		return nil, fmt.Errorf("a reference, not a value")
	}
	e, list := expr.Value(x, f.Src, &expr.Env{})
	if list.HasErrors() {
		return nil, list[0]
	}
	if e.Kind != ir.Const {
		return nil, fmt.Errorf("not a literal")
	}
	return e.Const, nil
}

// example shows how a value of a type is written on a command line.
func example(t value.Type) string {
	switch t.Kind {
	case value.Bool:
		return "Write true or false"
	case value.NumberT:
		return "Write a number, such as 3"
	case value.ListT, value.SetT, value.TupleT:
		if t.Elem != nil && t.Elem.Kind == value.StringT {
			return `Write a list, such as '["a", "b"]'`
		}
		return fmt.Sprintf("Write a list, such as '%s'", sample(t, 0))
	case value.MapT, value.ObjectT:
		return fmt.Sprintf("Write an object, such as '%s'", sample(t, 0))
	}
	return ""
}

// wanted says how to give a value. Whoever may list processes sees their arguments, so what is sensitive goes another way.
func wanted(kind string, d *ir.Variable) string {
	switch {
	case d.Sensitive && kind == "variable":
		return fmt.Sprintf("It is sensitive: set FLOWRUN_VAR_%s, or give a file with --var-from %s=FILE (%s)", d.Name, d.Name, d.Type)
	case d.Sensitive:
		return fmt.Sprintf("It is sensitive: give a file with --%s-from %s=FILE (%s)", flagOf(kind), d.Name, d.Type)
	}
	return fmt.Sprintf("Give one with --%s %s=VALUE (%s)", flagOf(kind), d.Name, d.Type)
}

// Inputs completes what was given for a list of declarations: defaults are filled in, values are converted to their
// types, and what the declarations ask of them is asked. kind is "variable" or "input". Errors
// are *InputError, all of them, in order of names.
func Inputs(kind string, decls []ir.Variable, given map[string]value.Value, around Known) (map[string]value.Value, []error) {
	out := make(map[string]value.Value, len(decls))
	var errs []error
	var names []string
	known := map[string]bool{}
	for _, d := range decls {
		names = append(names, d.Name)
		known[d.Name] = true
		v, ok := given[d.Name]
		switch {
		case ok:
		case d.HasDefault:
			v = d.Default
		default:
			errs = append(errs, &InputError{d.Name, fmt.Sprintf("No value for the %s %q", kind, d.Name), wanted(kind, &d)})
			continue
		}
		v, err := fit(d, v)
		if err != nil {
			errs = append(errs, hidden(d, err))
			continue
		}
		out[d.Name] = v
	}
	for n := range given { // any order: the errors are sorted below
		if known[n] {
			continue
		}
		e := &InputError{n, fmt.Sprintf("There is no %s %q", kind, n), "None is declared"}
		if near := diag.Nearest(n, names); near != "" {
			e.Hint = fmt.Sprintf("Did you mean %q?", near)
		} else if len(names) > 0 {
			e.Hint = "Declared are: " + strings.Join(names, ", ")
		}
		errs = append(errs, e)
	}
	errs = append(errs, validate(kind, decls, out, around)...)
	sort.SliceStable(errs, func(i, j int) bool { return errs[i].(*InputError).Name < errs[j].(*InputError).Name })
	return out, errs
}

func flagOf(kind string) string {
	if kind == "variable" {
		return "var"
	}
	return kind
}
