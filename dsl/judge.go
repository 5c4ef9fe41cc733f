package dsl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Known is what the conditions on a value may read besides the values that are judged.
type Known struct {
	Vars  map[string]value.Value // the variables, for inputs
	Files map[string]string      // the program's
}

// judged is the scope of a validation: what was given, by the root that it is read from.
type judged map[string]map[string]value.Value

// Lookup implements ir.Scope.
func (j judged) Lookup(r ir.Ref) (value.Value, error) { return j[r.Root][r.Name], nil }

// validate asks the conditions that the values must meet. What one of them reads and is not there has been reported.
func validate(kind string, decls []ir.Variable, values map[string]value.Value, known Known) (errs []error) {
	root := flagOf(kind)
	scope := judged{"var": known.Vars, root: values}
	ev := expr.NewEvaluator(ir.NewestRules(), known.Files)
	for _, d := range decls {
		if _, there := values[d.Name]; !there {
			continue
		}
		for i := range d.Validation {
			rule := &d.Validation[i]
			missing := slices.ContainsFunc(rule.Condition.Reads, func(r ir.Ref) bool { _, there := scope[r.Root][r.Name]; return !there })
			if missing {
				continue
			}
			holds, err := ev.Eval(&rule.Condition, scope)
			switch {
			case err != nil && (d.Sensitive || rule.Condition.Sensitive):
				errs = append(errs, &InputError{d.Name, d.Name + " cannot be judged by its validation", ""})
			case err != nil:
				errs = append(errs, &InputError{d.Name, fmt.Sprintf("%s cannot be judged: %v", d.Name, err), ""})
			case holds != true:
				errs = append(errs, &InputError{d.Name, fmt.Sprintf("%s: %s", d.Name, because(ev, rule, scope)), ""})
			}
		}
	}
	return errs
}

// because is what a rule says where it does not hold.
func because(ev *expr.Evaluator, rule *ir.Require, scope ir.Scope) string {
	if rule.Message != nil {
		if v, err := ev.Eval(rule.Message, scope); err == nil && v != nil {
			return value.Text(v)
		}
	}
	return "it must hold that " + rule.Condition.Text
}

// listed checks that a value is one of those that there may be.
func listed(d ir.Variable, v value.Value) error {
	if len(d.Enum) == 0 || v == nil && d.Type.Nullable || slices.ContainsFunc(d.Enum, func(e value.Value) bool { return value.Equal(e, v) }) {
		return nil
	}
	words := make([]string, len(d.Enum))
	for i, e := range d.Enum {
		words[i] = value.Text(e)
	}
	err := &InputError{d.Name, fmt.Sprintf("%s cannot be %.60q", d.Name, value.Text(v)), "It is one of " + strings.Join(words, ", ")}
	if near := diag.Nearest(value.Text(v), words); near != "" {
		err.Hint += fmt.Sprintf(". Did you mean %q?", near)
	}
	return err
}

// undeclared finds the first attribute in a value that an object type does not have: converting would lose it. The path
// of the object is "" for the value itself.
func undeclared(v value.Value, t value.Type, path string) error {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range value.Keys(v) {
			of := t.Elem
			if t.Kind == value.ObjectT {
				a, known := t.Attrs[name]
				if !known {
					return &strayAttr{path, name, t}
				}
				of = &a
			}
			if of != nil {
				if err := undeclared(v[name], *of, path+"."+name); err != nil {
					return err
				}
			}
		}
	case []any:
		for i, e := range v {
			of := t.Elem
			if t.Kind == value.TupleT && i < len(t.Elems) {
				of = &t.Elems[i]
			}
			if of != nil {
				if err := undeclared(e, *of, path+"["+strconv.Itoa(i)+"]"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// strayAttr is an attribute that its object does not have.
type strayAttr struct {
	path, name string
	of         value.Type
}

func (e *strayAttr) Error() string {
	where := ""
	if e.path != "" {
		where = " at " + e.path
	}
	if near := diag.Nearest(e.name, e.of.Names()); near != "" {
		return fmt.Sprintf("there is no attribute %q%s; did you mean %q?", e.name, where, near)
	}
	return fmt.Sprintf("there is no attribute %q%s; there are %s", e.name, where, strings.Join(e.of.Names(), ", "))
}

// sample is a value of a type as somebody could write it, down to a few levels.
func sample(t value.Type, depth int) string {
	if len(t.Enum) > 0 {
		return strconv.Quote(t.Enum[0])
	}
	if depth > maxSample {
		return "…"
	}
	switch t.Kind {
	case value.Bool:
		return "true"
	case value.NumberT:
		return "3"
	case value.ListT, value.SetT:
		return "[" + sample(*t.Elem, depth+1) + "]"
	case value.MapT:
		return `{"key": ` + sample(*t.Elem, depth+1) + "}"
	case value.TupleT:
		parts := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			parts[i] = sample(e, depth+1)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case value.ObjectT:
		var parts []string
		for _, name := range t.Names() {
			if !t.Attrs[name].Optional {
				parts = append(parts, strconv.Quote(name)+": "+sample(t.Attrs[name], depth+1))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return `"text"`
}

// maxSample bounds how deep an example goes.
const maxSample = 3
