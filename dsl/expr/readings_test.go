package expr

import (
	"fmt"
	"github.com/flowrun/flowrun/dsl/ir"
	"strings"
	"testing"
)

// What a condition read is told in the order in which it is written, once each, and in few words.
func TestReadings(t *testing.T) {
	long := strings.Repeat("x", 200)
	s := scopeOf(t, fmt.Sprintf(`{"var":{"min":80,"name":%q,"list":["a","b"],"any":{"deep":[{"n":1}]},"map":{"a":1,"b":2}},
		"step":{"build":{"output":{"coverage":73,"files":["a","b","c","d","e"]},"status":"failed"},"run-tests":{"exit_code":1}},"input":{"maybe":null}}`, long))
	for text, want := range map[string]string{
		"step.build.output.coverage >= var.min":                              "step.build.output.coverage = 73, var.min = 80",
		"step.build.output.coverage >= 80 && step.build.status=='succeeded'": `step.build.output.coverage = 73, step.build.status = "failed"`,
		"step.run-tests.exit_code == 0":                                      "step.run-tests.exit_code = 1",
		"var.any.deep[0].n == 2":                                             "var.any.deep[0].n = 1",
		"var.list[ 0 ] == 'b'":                                               `var.list[ 0 ] = "a"`,
		"var.map['b'] == 3":                                                  "var.map['b'] = 2",
		"var.list[var.any.deep[0].n] == 'c'":                                 `var.list = ["a", "b"], var.any.deep[0].n = 1`,
		"var.min > 1 and var.min > 2":                                        "var.min = 80",
		"any(step.build.output.files, # == var.name)":                        `step.build.output.files = a list of 5, var.name = "` + long[:maxReadingValue] + `…"`,
		"'c' in var.list":                                                    `var.list = ["a", "b"]`,
		"var.map != {}":                                                      "var.map = an object of 2",
		"input.maybe == 'x'":                                                 "input.maybe = null",
		"1 == 2":                                                             "",
	} {
		e := mustCondition(t, text, testEnv())
		if have := NewEvaluator(ir.NewestRules()).Readings(e, s); have != want {
			t.Errorf("%s\nreads %s\nwant  %s", text, have, want)
		}
		e.Sensitive = true
		if have := NewEvaluator(ir.NewestRules()).Readings(e, s); have != "" {
			t.Errorf("%s is sensitive and tells %s", text, have)
		}
	}
	var parts, names []string
	for i := range MaxReadings + 3 {
		parts = append(parts, fmt.Sprintf("var.any.a%d == 1", i))
		if i < MaxReadings {
			names = append(names, fmt.Sprintf("var.any.a%d = null", i))
		}
	}
	e := mustCondition(t, strings.Join(parts, " || "), testEnv())
	if have, want := NewEvaluator(ir.NewestRules()).Readings(e, s), strings.Join(names, ", ")+", …"; have != want {
		t.Errorf("many names give %s", have)
	}
}
