package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/diag"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// scope answers from one JSON document, {"step": {"a": {"output": …}}, …}, and counts what it is asked.
type scope struct {
	data  map[string]any
	asked []ir.Ref
}

func (s *scope) Lookup(r ir.Ref) (value.Value, error) {
	s.asked = append(s.asked, r)
	var v value.Value = s.data[r.Root]
	for _, name := range []string{r.Name, r.Attr} {
		if name == "" {
			break
		}
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v, nil
}

func scopeOf(t testing.TB, json string) *scope {
	t.Helper()
	v, err := value.Decode([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return &scope{data: v.(map[string]any)}
}

var statuses = []string{"pending", "running", "waiting", "succeeded", "failed", "skipped", "blocked", "cancelled"}

// result is the type of a node's result with an output of the given type.
func result(output value.Type) value.Type {
	status := value.StringType
	status.Enum = statuses
	return value.Object(map[string]value.Type{
		"output": output, "status": status, "exit_code": value.IntType, "stdout": value.StringType, "stderr": value.StringType,
		"duration": value.NumberType, "attempts": value.IntType,
	})
}

// testEnv is what most tests read.
func testEnv() *Env {
	coverage := value.Object(map[string]value.Type{"coverage": value.NumberType, "files": value.List(value.StringType), "note": func() value.Type { s := value.StringType; s.Optional = true; return s }()})
	failure := value.Object(map[string]value.Type{"message": value.StringType, "reason": value.StringType.OrNull()})
	return &Env{
		Roots: map[string]*Root{
			"var":   {What: "variable", Names: map[string]value.Type{"min": value.NumberType, "name": value.StringType, "flag": value.BoolType, "list": value.List(value.StringType), "map": value.Map(value.NumberType), "any": value.AnyType}},
			"local": {What: "local value", Names: map[string]value.Type{}},
			"input": {What: "input", Names: map[string]value.Type{"kind": value.StringType, "n": value.NumberType, "maybe": value.StringType.OrNull()}},
			"step": {What: "step", Names: map[string]value.Type{
				"build": result(coverage), "run-tests": result(coverage), "skippable": result(coverage.OrNull()), "loose": result(value.AnyType),
			}, Decl: func(name string) diag.Range {
				return diag.Range{File: "f.hcl", Start: diag.Pos{Line: 100, Column: 1}, End: diag.Pos{Line: 100, Column: 5}}
			}, Hidden: map[string]string{"inner": "It stands in a for_each. Read the group instead."}},
			"each":    {What: "each", Type: value.Object(map[string]value.Type{"key": value.StringType, "value": value.AnyType})},
			"attempt": {What: "attempt", Type: value.IntType},
			"result":  {What: "result", Type: result(value.AnyType)},
			"error":   {What: "error", Type: failure.OrNull()},
			"run":     {What: "run", Type: value.Object(map[string]value.Type{"status": value.StringType, "error": failure.OrNull()})},
		},
		Hidden: map[string]string{"iteration": "It counts in a repeat, and this node is in none."},
	}
}

// attribute parses `x = EXPR` as a file does and returns the expression.
func attribute(t testing.TB, src string) hclsyntax.Expression {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(src), "f.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", src, diags)
	}
	return f.Body.(*hclsyntax.Body).Attributes["x"].Expr
}

// picture renders diagnostics as small pictures: the line of the file, carets under the range, code and message.
func picture(src string, diags diag.List) string {
	var b strings.Builder
	lines := strings.Split(src, "\n")
	for _, d := range diags.Sort() {
		line := lines[d.Subject.Start.Line-1]
		end := d.Subject.End.Column
		if d.Subject.End.Line != d.Subject.Start.Line {
			end = len([]rune(line)) + 1
		}
		fmt.Fprintf(&b, "%s\n%s%s\n", line, strings.Repeat(" ", d.Subject.Start.Column-1), strings.Repeat("^", max(1, end-d.Subject.Start.Column)))
		fmt.Fprintf(&b, "%s %s: %s. %s\n", d.Code, d.Severity, d.Summary, d.Detail)
		for _, n := range d.Notes {
			fmt.Fprintf(&b, "  %s: %s\n", n.Range, n.Text)
		}
	}
	return b.String()
}

func mustValue(t testing.TB, src string, env *Env) *ir.Expr {
	t.Helper()
	src = "x = " + src + "\n"
	e, diags := Value(attribute(t, src), []byte(src), env)
	if diags.HasErrors() {
		t.Fatalf("%s", picture(src, diags))
	}
	return e
}

func mustCondition(t testing.TB, text string, env *Env) *ir.Expr {
	t.Helper()
	src := "x = " + quote(text) + "\n"
	e, diags := Condition(attribute(t, src), []byte(src), env)
	if diags.HasErrors() {
		t.Fatalf("%s", picture(src, diags))
	}
	return e
}

// quote writes a text as a quoted string of HCL.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "${", "$${", "%{", "%%{").Replace(s) + `"`
}
