package expr

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"pgregory.net/rapid"
)

// readType reads a type expression, with "!" behind it for one that admits null.
func readType(t *testing.T, text string) value.Type {
	t.Helper()
	text, null := cutNull(text)
	typ, diags := Type(attribute(t, "x = "+text+"\n"))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	typ.Nullable = typ.Nullable || null
	return typ
}

func cutNull(text string) (string, bool) {
	if n := len(text) - 1; text[n] == '!' {
		return text[:n], true
	}
	return text, false
}

func TestAssignable(t *testing.T) {
	for _, c := range []struct {
		have, want string
		fit        Fit
	}{
		{"string", "string", Yes}, {"string", "number", No}, {"number", "string", No}, {"any", "string", Maybe}, {"string", "any", Yes}, {"string!", "string", Maybe}, {"string", "string!", Yes},
		{"tuple([string, string])", "list(string)", Yes}, {"tuple([string, number])", "list(string)", No}, {"tuple([string, any])", "list(string)", Maybe}, {"tuple([])", "list(string)", Yes},
		{"list(string)", "set(string)", Yes}, {"list(number)", "list(string)", Maybe}, {"list(string)", "tuple([string])", Maybe}, {"string", "list(string)", No}, {"tuple([string])", "tuple([string, string])", No},
		{"object({ a = string })", "map(string)", Yes}, {"object({ a = number })", "map(string)", No}, {"map(string)", "object({ a = string })", Maybe}, {"list(string)", "map(string)", No},
		{"object({ a = string, b = bool })", "object({ a = string })", Yes}, {"object({ a = string })", "object({ a = string, b = bool })", No}, {"object({ a = string })", "object({ a = string, b = optional(bool) })", Yes},
		{"object({ a = optional(string) })", "object({ a = string })", Maybe}, {"object({ a = number })", "object({ a = string })", No},
	} {
		if got := Assignable(readType(t, c.have), readType(t, c.want)); got != c.fit {
			t.Errorf("%s for %s: %d, want %d", c.have, c.want, got, c.fit)
		}
	}
	status := value.Type{Kind: value.StringT, Enum: []string{"a", "b"}}
	for _, c := range []struct {
		have value.Type
		fit  Fit
	}{{value.StringType, Maybe}, {status, Yes}, {value.Type{Kind: value.StringT, Enum: []string{"a", "c"}}, Maybe}, {value.Type{Kind: value.StringT, Enum: []string{"c"}}, No}} {
		if got := Assignable(c.have, status); got != c.fit {
			t.Errorf("%v: %d, want %d", c.have.Enum, got, c.fit)
		}
	}
}

// What is said of types holds for values: Yes converts, No does not.
func TestAssignableTellsTheTruth(t *testing.T) {
	values := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](1.5), rapid.Just[any](2.0), rapid.Just[any]("s"), rapid.Just[any]([]any{}), rapid.Just[any]([]any{"a", 1.0}), rapid.Just[any]([]any{"a", "b"}),
		rapid.Just[any](map[string]any{"a": "x"}), rapid.Just[any](map[string]any{"a": 1.0, "b": nil}), rapid.Just[any](map[string]any{}))
	texts := []string{"any", "string", "number", "bool", "list(string)", "set(any)", "map(string)", "map(any)", "tuple([string, number])", "tuple([])", "object({ a = string })", "object({ a = any, b = optional(bool) })", "object({})", "string!", "list(string)!"}
	rapid.Check(t, func(rt *rapid.T) {
		v := values.Draw(rt, "value")
		want := readType(t, rapid.SampledFrom(texts).Draw(rt, "type"))
		_, err := value.Convert(v, want)
		switch fit := Assignable(typeOf(v), want); {
		case fit == Yes && err != nil:
			rt.Fatalf("%s is said to fit %s, but: %v", value.Text(v), want, err)
		case fit == No && err == nil:
			rt.Fatalf("%s is said not to fit %s, but does", value.Text(v), want)
		}
	})
}

func TestConform(t *testing.T) {
	place := diag.Range{File: "f.hcl", Start: diag.Pos{Line: 3, Column: 7}}
	e := mustValue(t, `["b", "a", "b"]`, nil)
	if diags := Conform(e, value.Set(value.StringType), "names", place); len(diags) > 0 || value.Text(e.Const) != `["a","b"]` {
		t.Errorf("%v %v", diags, e.Const)
	}
	for text, want := range map[string]string{
		`5`:                   "timeout must be a string. A string is needed, but this is the number 5.",
		`step.build.attempts`: "timeout must be a string. A string is needed, and this gives a number.",
		`step.loose.output`:   "",
		`input.maybe`:         "",
	} {
		got := ""
		for _, d := range Conform(mustValue(t, text, testEnv()), value.StringType, "timeout", place) {
			got += d.Summary + ". " + d.Detail
			if d.Subject != place {
				t.Errorf("%s: at %v", text, d.Subject)
			}
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestRefs(t *testing.T) {
	x := attribute(t, `x = [step.b.output.x, var.a, step.b.output.y, each.value.z, attempt, feedback.text, [for v in local.l : v.q + step["a-b"].status]]`+"\n")
	if got := refs(Refs(x)); got != "attempt each.value feedback local.l step.a-b.status step.b.output var.a" {
		t.Error(got)
	}
}

// A stored expression of an unknown kind, or one that no longer parses, is an error and not a wrong answer.
func TestDamagedStore(t *testing.T) {
	for _, e := range []ir.Expr{{Kind: "x", Text: "1"}, {Kind: ir.HCL, Text: "1 +"}, {Kind: ir.Condition, Text: "1 +"}, {Kind: ir.Condition, Text: "1 + 1"}, {Kind: ir.HCL, Text: "nope()"}, {Kind: ir.HCL, Text: ""}} {
		if v, err := NewEvaluator(ir.NewestRules()).Eval(&e, &scope{}); err == nil {
			t.Errorf("%s %q: %v", e.Kind, e.Text, v)
		}
	}
}
