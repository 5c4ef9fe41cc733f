package dsl

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

func TestParseInput(t *testing.T) {
	obj := value.Object(map[string]value.Type{"a": value.StringType})
	for _, c := range []struct {
		t    value.Type
		text string
		want string // canonical JSON, or words of the error
		fail bool
	}{
		{value.StringType, `3`, `"3"`, false},
		{value.StringType, `${x} "y" [`, `"${x} \"y\" ["`, false},
		{value.StringType, ``, `""`, false},
		{value.NumberType, `3`, `3`, false},
		{value.NumberType, ` -1.5 `, `-1.5`, false},
		{value.NumberType, `three`, "v must be a number", true},
		{value.NumberType, `"3"`, "a number is needed", true},
		{value.NumberType, `1e8000000`, "v must be a number", true},
		{value.BoolType, `true`, `true`, false},
		{value.BoolType, `yes`, "true or false", true},
		{value.List(value.StringType), `["a", "b"]`, `["a","b"]`, false},
		{value.List(value.StringType), `a,b`, `such as '["a", "b"]'`, true},
		{value.List(value.NumberType), `["a"]`, "at [0]", true},
		{value.Set(value.StringType), `["b","a","b"]`, `["a","b"]`, false},
		{obj, `{ a = "x" }`, `{"a":"x"}`, false},
		{obj, `{"a": "x"}`, `{"a":"x"}`, false},
		{obj, `{}`, `attribute "a"`, true},
		{value.AnyType, `{"a": [1, null]}`, `{"a":[1,null]}`, false},
		{value.AnyType, `hello world`, `"hello world"`, false},
		{value.AnyType, `hello`, `"hello"`, false},
		{value.AnyType, `true`, `true`, false},
		{value.NumberType, "1\nb = 2", "v must be a number", true},
		{value.NumberType, "var.x", "v must be a number", true},
		{value.StringType, strings.Repeat("x", MaxInputBytes), "", false},
		{value.StringType, strings.Repeat("x", MaxInputBytes+1), "at most 1 MiB", true},
	} {
		v, err := ParseInput(ir.Variable{Name: "v", Type: c.t}, c.text)
		switch {
		case c.fail:
			if _, ok := err.(*InputError); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %.40q: %v, %v; want an error with %q", c.t, c.text, v, err, c.want)
			}
		case err != nil || c.want != "" && string(value.Append(nil, v)) != c.want:
			t.Errorf("%s %.40q: %s, %v; want %s", c.t, c.text, value.Append(nil, v), err, c.want)
		}
	}
}

func TestInputs(t *testing.T) {
	decls := []ir.Variable{
		{Name: "ticket", Type: value.StringType},
		{Name: "kind", Type: value.StringType, HasDefault: true, Default: "feature"},
		{Name: "note", Type: value.StringType.OrNull(), HasDefault: true},
	}
	got, errs := Inputs("input", decls, map[string]value.Value{"ticket": "T-1"})
	if len(errs) > 0 || string(value.Append(nil, map[string]any(got))) != `{"kind":"feature","note":null,"ticket":"T-1"}` {
		t.Errorf("%v, %v", got, errs)
	}
	_, errs = Inputs("input", decls, map[string]value.Value{"tiket": "T-1", "kind": 3.0, "zzzzzz": nil})
	var said []string
	for _, e := range errs {
		said = append(said, e.Error())
	}
	want := []string{
		"kind: a string is needed, but this is the number 3",
		`No value for the input "ticket". Give one with --input ticket=VALUE (string)`,
		`There is no input "tiket". Did you mean "ticket"?`,
		`There is no input "zzzzzz". Declared are: ticket, kind, note`,
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(said, "\n"))
	}
}
