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
		{obj, `{"a": "x", "bc": 1}`, `there is no attribute "bc"; there are a`, true},
		{value.List(value.Object(map[string]value.Type{"name": value.StringType})), `[{"nmae": "x"}]`, `at [0]; did you mean "name"?`, true},
		{value.Object(map[string]value.Type{"a": value.NumberType, "b": value.List(value.BoolType)}), `3`, `such as '{"a": 3, "b": [true]}'`, true},
		{value.NumberType, `9007199254740993`, "v cannot be 9007199254740993: the number is beyond 2^53", true},
		{value.AnyType, `{"a": [1, null]}`, `{"a":[1,null]}`, false},
		{value.AnyType, `hello world`, `"hello world"`, false},
		{value.AnyType, `hello`, `"hello"`, false},
		{value.AnyType, `true`, `true`, false},
		{value.AnyType, `{a = 1}`, `{"a":1}`, false},
		{value.AnyType, `{"a": "${x}"}`, `{"a":"${x}"}`, false},
		{value.AnyType, `{"a":1`, "v is not JSON: column 7: it ends too early", true},
		{value.AnyType, `[draft] text`, `such as '"[draft] text"'`, true},
		{value.AnyType, `"[draft] text"`, `"[draft] text"`, false},
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
	got, errs := Inputs("input", decls, map[string]value.Value{"ticket": "T-1"}, Known{})
	if len(errs) > 0 || string(value.Append(nil, map[string]any(got))) != `{"kind":"feature","note":null,"ticket":"T-1"}` {
		t.Errorf("%v, %v", got, errs)
	}
	_, errs = Inputs("input", decls, map[string]value.Value{"tiket": "T-1", "kind": 3.0, "zzzzzz": nil}, Known{})
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
	for kind, want := range map[string]string{
		"variable": `No value for the variable "token". It is sensitive: set FLOWRUN_VAR_token, or give a file with --var-from token=FILE (string)`,
		"input":    `No value for the input "token". It is sensitive: give a file with --input-from token=FILE (string)`,
	} {
		_, errs := Inputs(kind, []ir.Variable{{Name: "token", Type: value.StringType, Sensitive: true}}, nil, Known{})
		if len(errs) != 1 || errs[0].Error() != want {
			t.Errorf("%v", errs)
		}
	}
}

// A sensitive value is not shown where it does not fit.
func TestSensitiveInputsAreNotShown(t *testing.T) {
	for _, c := range []struct {
		d    ir.Variable
		text string
	}{
		{ir.Variable{Name: "v", Type: value.NumberType, Sensitive: true}, "hunter22"},
		{ir.Variable{Name: "v", Type: value.StringType, Enum: []any{"a"}, Sensitive: true}, "hunter22"},
		{ir.Variable{Name: "v", Type: value.Object(map[string]value.Type{"a": value.StringType}), Sensitive: true}, `{"hunter22": 1}`},
	} {
		if _, err := ParseInput(c.d, c.text); err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: %v", c.d.Type, err)
		}
	}
	_, errs := Inputs("variable", []ir.Variable{{Name: "v", Type: value.NumberType, Sensitive: true}}, map[string]value.Value{"v": "hunter22"}, Known{})
	if len(errs) != 1 || strings.Contains(errs[0].Error(), "hunter22") {
		t.Error(errs)
	}
}

// What declarations ask of values is asked where they are given: one of a list, and conditions over all that is given.
func TestInputsAreJudged(t *testing.T) {
	p, list := Load(memory(`variable "level" {
  type = string
  enum = ["low", "high"]
}
workflow "w" {
  input "env" {
    type = string
    validation {
      condition = "input.env != 'live' || var.level == 'high'"
      message   = "live needs a high level, not ${var.level}"
    }
    validation { condition = "len(input.env) == 4" }
  }
  step "a" { run = ["true"] }
}
`), "w.hcl", Options{})
	if p.IR == nil {
		t.Fatal(render(list, p.Sources))
	}
	for _, c := range []struct{ level, env, want string }{
		{"high", "live", ""},
		{"low", "test", ""},
		{"low", "live", "env: live needs a high level, not low"},
		{"low", "local", "env: it must hold that len(input.env) == 4"},
		{"hihg", "test", `level cannot be "hihg". It is one of low, high. Did you mean "high"?`},
	} {
		vars, errs := Inputs("variable", p.IR.Variables, map[string]value.Value{"level": c.level}, Known{})
		_, more := Inputs("input", p.IR.Workflows[0].Inputs, map[string]value.Value{"env": c.env}, Known{Vars: vars})
		got := ""
		for _, err := range append(errs, more...) {
			got += err.Error()
		}
		if got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.level, c.env, got, c.want)
		}
	}
}
