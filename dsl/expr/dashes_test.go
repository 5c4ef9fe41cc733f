package expr

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// A dash belongs to a name where that name is declared, and is a minus elsewhere; the text is kept as it was written
// wherever it can be read back.
func TestDashes(t *testing.T) {
	env := testEnv()
	env.Roots["step"].Names["dash"] = result(value.Object(map[string]value.Type{"a-b": value.NumberType, "a": value.NumberType}))
	env.Roots["input"].Names["a"], env.Roots["input"].Names["a-b"], env.Roots["input"].Names["b"] = value.NumberType, value.NumberType, value.NumberType
	s := scopeOf(t, `{"input":{"a":10,"b":1,"a-b":5,"n":7},"var":{"list":["a"]},"step":{"run-tests":{"output":{"coverage":70},"status":"failed"},"loose":{"output":{"n":3,"n-1":9}},"dash":{"output":{"a":1,"a-b":2}}}}`)
	for _, c := range []struct{ text, stored, reads string }{
		{`step.run-tests.status == 'failed'`, "", "step.run-tests.status"},
		{`step["run-tests"].output.coverage-1 == 69`, "", "step.run-tests.output"},
		{`step?.run-tests?.output.coverage - 1 == 69`, "", "step.run-tests.output"},
		{`step.loose.output.n-1 == 2`, "", "step.loose.output"},
		{`step.loose.output["n-1"] == 9`, "", "step.loose.output"},
		{`step.dash.output.a-b == 2 and contains(var.list, 'a')`, `step.dash.output["a-b"] == 2 and contains(var.list, 'a')`, "step.dash.output var.list"},
		{`step.dash.output.a -1 == 0`, "", "step.dash.output"},
		{`input.a-b == 5`, "", "input.a-b"},
		{`input.a - input.b == 9`, "", "input.a input.b"},
		{`input.n-1 == 6`, "", "input.n"},
		{`input.a-b-input.b == 4`, "", "input.a-b input.b"},
		{`'step.run-tests' != "" /* step.run-tests */ && contains(var.list, 'a')`, "", "var.list"},
	} {
		e := mustCondition(t, c.text, env)
		want := c.text
		if c.stored != "" {
			want = c.stored
		}
		if e.Text != want || refs(e.Reads) != c.reads {
			t.Errorf("%s: stored as %s, reads %s", c.text, e.Text, refs(e.Reads))
		}
		if v, err := NewEvaluator(ir.NewestRules()).Eval(e, s); v != true || err != nil {
			t.Errorf("%s: %v, %v", c.text, v, err)
		}
	}
}

// One text can mean two things in two programs; an evaluator that serves both keeps them apart.
func TestOneTextTwoMeanings(t *testing.T) {
	minus, dash := testEnv(), testEnv()
	minus.Roots["input"].Names["n"] = value.NumberType
	dash.Roots["input"].Names["n-1"] = value.NumberType
	s := scopeOf(t, `{"input":{"n":7,"n-1":0}}`)
	ev := NewEvaluator(ir.NewestRules())
	for range 2 {
		a, errA := ev.Eval(mustCondition(t, "input.n-1 == 6", minus), s)
		b, errB := ev.Eval(mustCondition(t, "input.n-1 == 6", dash), s)
		if a != true || b != false || errA != nil || errB != nil {
			t.Fatal(a, errA, b, errB)
		}
	}
}

// A failure names the part of the text as it was written.
func TestErrorsNameTheirPart(t *testing.T) {
	s := scopeOf(t, `{"var":{"any":null},"step":{"run-tests":{"output":{"coverage":70}},"loose":{"output":{"x":"text"}}}}`)
	for text, want := range map[string]string{
		`step.run-tests.output.coverage > step.loose.output.x`:      "step.run-tests.output.coverage > step.loose.output.x: the number 70 and the string \"text\" have no order: two numbers or two strings are needed",
		`step.run-tests.output.coverage > 1 && step.loose.output.n`: "step.loose.output.n: a bool is needed, but this is null",
		`1 + var.any == 2`:     "var.any: +: a number or a string is needed, but this is null",
		`var.any`:              "var.any: true or false is needed, but this is null",
		`contains(var.any, 1)`: "var.any: a list is needed, but this is null",
	} {
		_, err := NewEvaluator(ir.NewestRules()).Eval(mustCondition(t, text, testEnv()), s)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}
