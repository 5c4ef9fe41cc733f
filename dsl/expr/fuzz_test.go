package expr

import (
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// fuzzScope holds a value for every name of testEnv, of its type.
const fuzzScope = `{"var":{"min":80,"name":"x","flag":true,"list":["b","a"],"map":{"b":2,"a":1},"any":{"n":[1,"x",null,{"y":2}]}},"input":{"kind":"ui","n":3,"maybe":null},
 "each":{"key":"k","value":[1]},"attempt":2,"result":{"output":null,"status":"failed","exit_code":1,"stdout":"","stderr":"","duration":1.5,"attempts":1},"step":{
 "build":{"output":{"coverage":90,"files":["a.go","b.go"],"note":null},"status":"succeeded","exit_code":0,"stdout":"o","stderr":"","duration":1.5,"attempts":1},
 "run-tests":{"output":{"coverage":70.5,"files":[],"note":"n"},"status":"failed","exit_code":2,"stdout":"","stderr":"e","duration":0,"attempts":3},
 "loose":{"output":{"deep":[{"n":1},{"n":2}]},"status":"succeeded","exit_code":-1,"stdout":"","stderr":"","duration":0,"attempts":1},
 "skippable":{"output":null,"status":"skipped","exit_code":-1,"stdout":"","stderr":"","duration":0,"attempts":0}}}`

// holds checks what must be true of every checked expression: its text can be read back, it evaluates without a panic to
// something of its type, and its names resolve.
func holds(t *testing.T, src string, e *ir.Expr, diags diag.List) {
	if (e == nil) != diags.HasErrors() {
		t.Fatalf("%s: an expression and errors: %v", src, diags)
	}
	for _, d := range diags {
		if d.Subject.Start.Byte < 0 || d.Subject.End.Byte > len(src) || d.Subject.Start.Byte > d.Subject.End.Byte || d.Summary == "" || d.Detail == "" {
			t.Fatalf("%s: a diagnostic without a place or words: %+v", src, d)
		}
	}
	if e == nil {
		return
	}
	if e.Kind != ir.Const {
		if _, err := parse(e); err != nil {
			t.Fatalf("%s: the stored text %q cannot be read back: %v", src, e.Text, err)
		}
	}
	v, err := NewEvaluator(ir.NewestRules()).Eval(e, scopeOf(t, fuzzScope))
	if err != nil {
		return
	}
	if _, err := value.Convert(v, e.Type); err != nil {
		t.Fatalf("%s: gives %s, which is not of its type %s: %v", src, value.Append(nil, v), e.Type, err)
	}
}

// parsed is the expression of `x = EXPR`, or nil where HCL itself refuses the text.
func parsed(src string) hclsyntax.Expression {
	if len(src) > 2000 { // the parser recurses; files are guarded before it
		return nil
	}
	f, diags := hclsyntax.ParseConfig([]byte(src), "f.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return nil
	}
	if a := f.Body.(*hclsyntax.Body).Attributes["x"]; a != nil {
		return a.Expr
	}
	return nil
}

var conditionSeeds = []string{
	"step.run-tests.status == 'failed' && step.build.output.coverage >= var.min", "all(var.list, # != 'z')", "step.skippable.output?.coverage ?? 0 > 1", "let q = var.map; q['a'] == 1",
	"step.loose.output.n-1 > 2 && step.run-tests.output.coverage-1 > each.value.a-b-1", "contains(var.list, 'a') and not contains(var.list, 'b')", "reduce(1..10, #acc + #) > 3", "var.any.n[3].y == 2", "input.kind matches '^u' ? true : false", "sortBy(var.list, #, 'desc')[0] == 'b'",
	"// c\n/* d */ true", "`a\\b` == 'a\\\\b'", "\u65e5 == 1", "{a: 1}.a == 1", "var.list | sort() | first() == 'a'", "step.build?.output?.note?.x", "groupBy(var.list, #).a[0] == 'a'", "[1,2][0:1] == [1]", "1_0e3 > 0x1F",
}

func FuzzCondition(f *testing.F) {
	for _, s := range conditionSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, src := range []string{"x = " + quote(text) + "\n", "x = \"" + text + "\"\n", "x = <<-EOT\n  " + text + "\n  EOT\n"} {
			if x := parsed(src); x != nil {
				e, diags := Condition(x, []byte(src), testEnv())
				holds(t, src, e, diags)
			}
		}
	})
}

func FuzzValue(f *testing.F) {
	for _, s := range []string{
		"1 + 2", `"a${var.name}%{ if var.flag }b%{ endif }"`, "{ for k, v in var.map : k => v... if v > 1 }", "[for i, f in step.build.output.files : upper(f)]", "step.loose.output.deep[*].n", "try(step.skippable.output.coverage, 0)",
		"merge(var.map, { (var.name) = 1 })", "var.flag ? [1] : [1, 2]", "coalesce(input.maybe, 3)", "<<-EOT\n  a\n   ${var.name}\n  EOT\n", "jsondecode(jsonencode(step.build))", "toset([3, 1, 3])", "format(\"%5.2f|%-5s|%q\", 1.5, \"a\", \"b\")",
		"lookup(var.map, \"a\", \"b\")", "setunion(var.list, [1])", "flatten([[1, [2]], 3])", "zipmap(keys(var.map), values(var.map))", "element(var.list, -5)", "var.list.*.x", "concat()", "range(0.5, 3)", "max(var.list...)", "abs(-0.5)", "one([])",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := "x = " + text + "\n"
		if x := parsed(src); x != nil {
			e, diags := Value(x, []byte(src), testEnv())
			holds(t, src, e, diags)
			Type(x)
			Refs(x)
			StaticList(x, "agent")
		}
	})
}
