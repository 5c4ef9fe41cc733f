package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// fixedEnv is for what is fixed before anything is known.
func (c *checker) fixedEnv() *expr.Env {
	env := c.env(nil, nil)
	for name := range env.Roots { // any order: each for itself
		env.Hidden[name] = notFixed
	}
	env.Roots = roots{}
	for name := range env.Hidden { // any order: each for itself
		env.Hidden[name] = notFixed
	}
	return env
}

// decl checks a variable or an input: its type, what it may be, and its default.
func (c *checker) decl(v *Decl) {
	c.static(v.Block)
	v.Type = value.AnyType
	if a := v.attr("type"); a != nil && a.Type != nil {
		v.Type = *a.Type
	}
	c.enum(v)
	a := v.attr("default")
	if a == nil {
		return
	}
	a.done = true
	e, list := expr.Value(a.Src.Expr(), a.Src.File.Src, c.fixedEnv())
	if v.sensitive() && (e == nil || e.Kind != ir.Const || tells(e.Const)) { // what else is wrong with it would quote it
		c.report(diag.Diagnostic{Code: "F0288", Subject: a.Src.Range, Context: v.Words(), Summary: fmt.Sprintf("The default of the sensitive %s is written in the file", v.Words()),
			Detail: fmt.Sprintf("Everyone who can read the file can read the secret, and each run would store it. Remove the default, and give the value when the run starts: %s. "+
				"If the %s is optional, write  default = null.", v.givenBy(), v.Schema.Kind)})
		return
	}
	if e != nil && !list.HasErrors() {
		if e.Kind != ir.Const { // a file
			v, _ := expr.Fixed(e, c.texts(), &c.work)
			e = ir.Lit(v, value.StringType)
		}
		if e.Const == nil { // null as a default means: may be left out
			v.Type.Nullable = true
			a.Expr = e
		} else {
			found := expr.Conform(e, v.Type, "default", a.Src.Span())
			list = append(list, found...)
			if !found.HasErrors() {
				a.Expr = e
				list = append(list, v.listed(a)...)
			}
		}
		v.Default = a.Expr
	}
	c.in(v.Block, list)
}

// tells tells whether a value holds a text or a number.
func tells(v value.Value) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case float64:
		return true
	case []any:
		return slices.ContainsFunc(v, tells)
	case map[string]any:
		return slices.ContainsFunc(value.Keys(v), func(k string) bool { return tells(v[k]) })
	}
	return false
}

// givenBy says how to give a value of a variable or an input that must not be seen.
func (v *Decl) givenBy() string {
	if v.Schema.Kind == "input" {
		return fmt.Sprintf("--input-from %s=FILE", v.Name)
	}
	return fmt.Sprintf("FLOWRUN_VAR_%s, --var-file FILE, or --var-from %s=FILE", v.Name, v.Name)
}

// MaxEnum bounds the values that enum lists. Each message about a value names them.
const MaxEnum = 1000

// enum checks the list of values that a variable or input may have.
func (c *checker) enum(v *Decl) {
	a := v.attr("enum")
	if a == nil {
		return
	}
	a.done = true
	e, list := expr.Value(a.Src.Expr(), a.Src.File.Src, c.fixedEnv())
	members, ok := []any(nil), false
	if e != nil {
		members, ok = e.Const.([]any)
	}
	if !list.HasErrors() && (!ok || len(members) == 0) {
		list = append(list, diag.Diagnostic{Code: "F0280", Subject: a.span(), Summary: "enum must list the allowed values",
			Detail: "It is a literal list with at least one member:  enum = [\"a\", \"b\"]."})
	}
	if len(members) > MaxEnum {
		list = append(list, diag.Diagnostic{Code: "F0280", Subject: a.span(), Summary: fmt.Sprintf("enum has %d members", len(members)),
			Detail: fmt.Sprintf("The limit is %d. For a rule, use a validation:  validation { condition = \"…\" }.", MaxEnum)})
		members = nil
	}
	seen := make(map[string]bool, len(members))
	for i, m := range members {
		at := a.memberAt(i)
		m, err := value.Convert(m, v.Type)
		text := string(value.Append(nil, m))
		switch {
		case err != nil:
			list = append(list, diag.Diagnostic{Code: "F0280", Subject: at, Summary: fmt.Sprintf("%s in enum is not a %s", shown(members[i]), v.Type),
				Detail: upper(err.Error()) + ". All values must have the declared type."})
		case seen[text]:
			list = append(list, diag.Diagnostic{Code: "F0280", Subject: at, Summary: fmt.Sprintf("enum has %s twice", shown(m)), Detail: "Remove one of the two."})
		default:
			v.Enum, seen[text] = append(v.Enum, m), true
		}
	}
	c.in(v.Block, list)
}

// listed checks that the default is one of the values that there may be.
func (v *Decl) listed(a *Attr) diag.List {
	if len(v.Enum) == 0 || slices.ContainsFunc(v.Enum, func(o value.Value) bool { return value.Equal(o, a.Expr.Const) }) {
		return nil
	}
	words := v.words()
	d := diag.Diagnostic{Code: "F0279", Subject: a.span(), Summary: fmt.Sprintf("The default %s is not in enum", shown(a.Expr.Const)),
		Detail: "A default must be one of the values in enum. Change it, or add it to enum."}
	if s, text := a.Expr.Const.(string); text {
		if near := diag.Nearest(s, words); near != "" {
			d.Detail = fmt.Sprintf("Did you mean %q?", near)
			d.Edit = &diag.Edit{Range: d.Subject, Text: fmt.Sprintf("%q", near)}
		}
	}
	return diag.List{d}
}

// words are the values of enum where all of them are texts.
func (v *Decl) words() (out []string) {
	for _, m := range v.Enum {
		s, ok := m.(string)
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// read is the type that expressions see: of a text with an enum, only its words.
func (v *Decl) read() value.Type {
	t := v.Type
	if t.Kind == value.StringT {
		t.Enum = v.words()
	}
	return t
}

// validations checks the conditions that a value must meet, and that the default meets them.
func (c *checker) validations(v *Decl, root string, env *expr.Env) {
	for _, b := range v.Blocks {
		if b.Schema.Kind != "validation" {
			continue
		}
		c.expressions(b, func(string) *expr.Env { return env })
		a := b.attr("condition")
		if a == nil || a.Expr == nil {
			continue
		}
		own := slices.ContainsFunc(a.Expr.Reads, func(r ir.Ref) bool { return r.Root == root && r.Name == v.Name })
		if !own {
			c.report(diag.Diagnostic{Code: "F0279", Subject: a.span(), Context: b.Words(), Summary: fmt.Sprintf("Validation does not read %s.%s", root, v.Name),
				Detail: fmt.Sprintf("It checks the value of %s. For other conditions, use  require  in a workflow.", v.Words())})
			continue
		}
		if v.Default == nil || len(a.Expr.Reads) > 1 {
			continue
		}
		holds, err := expr.NewEvaluator(ir.NewestRules(), c.texts()).Eval(a.Expr, only{v.Default.Const})
		if err != nil || holds != true {
			c.report(diag.Diagnostic{Code: "F0279", Subject: v.attr("default").span(), Context: v.Words(), Summary: fmt.Sprintf("The default %s does not meet the validation of %s", shown(v.Default.Const), v.Words()),
				Detail: "A default must satisfy the validation. Change the default or the condition.", Notes: []diag.Note{{Text: "this condition is false for it", Range: a.span()}}})
		}
	}
}

// only is the scope of what reads one name.
type only struct{ v value.Value }

// Lookup implements ir.Scope.
func (o only) Lookup(ir.Ref) (value.Value, error) { return o.v, nil }

// shown is a value as a file has it, shortened.
func shown(v value.Value) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%.40q", s)
	}
	return fmt.Sprintf("%.60s", value.Text(v))
}

// memberAt is where member i of a list stands that is written out.
func (a *Attr) memberAt(i int) diag.Range {
	if at, ok := a.elements(); ok && i < len(at) {
		return at[i]
	}
	return a.span()
}
