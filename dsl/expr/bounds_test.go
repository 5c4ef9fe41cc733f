package expr

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// stored evaluates a text as if it came from a store, unchecked.
func stored(kind ir.ExprKind, text string) error {
	_, err := NewEvaluator(ir.NewestRules()).Eval(&ir.Expr{Kind: kind, Text: text}, &scope{data: map[string]any{}})
	return err
}

// Each text lies at a bound; one more is refused, and nothing takes long.
func TestBounds(t *testing.T) {
	in := func(open, x, end string, n int) string { return strings.Repeat(open, n) + x + strings.Repeat(end, n) }
	cases := []struct {
		name string
		kind ir.ExprKind
		text func(n int) string
		max  int
	}{
		{"condition bytes", ir.Condition, func(n int) string { return "true" + strings.Repeat(" ", n-4) }, MaxConditionBytes},
		{"condition brackets", ir.Condition, func(n int) string { return in("(", "true", ")", n) }, MaxConditionDepth},
		{"condition nodes", ir.Condition, func(n int) string { return strings.Repeat("!", n-1) + "true" }, MaxConditionNodes},
		{"predicates", ir.Condition, func(n int) string { return in("any([1],", "true", ")", n) }, MaxPredicateDepth},
		{"condition pattern", ir.Condition, func(n int) string { return "('' matches '" + strings.Repeat("a", n) + "') == false" }, MaxPatternBytes},
		{"range operator", ir.Condition, func(n int) string { return fmt.Sprintf("len(1..%d) > 0", n) }, MaxRange},
		{"value brackets", ir.HCL, func(n int) string { return in("(", "1", ")", n) }, MaxValueDepth},
		{"value lists", ir.HCL, func(n int) string { return in("[", "1", "]", n) }, MaxValueDepth},
		{"value prefixes", ir.HCL, func(n int) string { return in("!", "true", "", n) }, MaxValueDepth},
		{"value templates", ir.HCL, func(n int) string { return in(`"${`, "1", `}"`, n) }, MaxValueDepth},
		{"conditionals", ir.HCL, func(n int) string { return in("true ? 1 : ", "1", "", n) }, MaxConditionals - 10},
		{"value bytes", ir.HCL, func(n int) string { return `"` + strings.Repeat("a", n-2) + `"` }, MaxValueBytes},
		{"path", ir.HCL, func(n int) string { return "result.x" + strings.Repeat(".a", n) }, maxPath},
		{"nested result", ir.HCL, func(n int) string { return in("[", "1", "]", n) }, value.MaxDepth},
		{"digits", ir.HCL, func(n int) string { return "0." + strings.Repeat("1", n-1) }, MaxDigits},
		{"exponent", ir.HCL, func(n int) string { return fmt.Sprintf("1e-%d", n) }, 300},
		{"range", ir.HCL, func(n int) string { return fmt.Sprintf("length(range(%d))", n) }, MaxRange},
		{"string", ir.HCL, func(n int) string { return fmt.Sprintf(`length(repeat("a", %d))`, n) }, MaxStringBytes},
		{"format width", ir.HCL, func(n int) string { return fmt.Sprintf(`format("%%%dd", 1)`, n) }, maxWidth},
		{"whole numbers", ir.HCL, func(n int) string { return fmt.Sprint(n) }, value.MaxNumber},
		{"whole numbers in conditions", ir.Condition, func(n int) string { return fmt.Sprintf("%d > 1", n) }, value.MaxNumber},
	}
	for _, c := range cases {
		if err := stored(c.kind, c.text(c.max)); err != nil {
			t.Errorf("%s: %d is refused: %v", c.name, c.max, err)
		}
		over := c.max + 1
		if c.name == "conditionals" || c.name == "exponent" { // their bound is not sharp: the tree's depth, and float64's
			over = c.max + 200
		}
		if c.kind == ir.Condition && c.name == "condition bytes" { // a stored text may have grown by brackets for dashes
			over = 2*c.max + 1
		}
		if c.name == "condition brackets" {
			over++
		}
		if err := stored(c.kind, c.text(over)); err == nil {
			t.Errorf("%s: %d is accepted", c.name, over)
		}
	}
}

// costs is how much processor time a hostile text may take. The promise is 2 s on a machine that does nothing else. The test
// leaves room for a busy machine, whose caches are never warm, and for a slow one: there it compares with an ordinary text.
func costs(t *testing.T) time.Duration {
	t.Helper()
	start := cpu()
	for range 3 {
		if err := stored(ir.HCL, `length([for i in range(50000) : "${i}"])`); err != nil {
			t.Fatal(err)
		}
	}
	took := cpu() - start
	limit := max(4*time.Second, 200*took)
	t.Logf("an ordinary text takes %v thrice, so the limit is %v", took, limit)
	return limit
}

// cpu is the processor time that this process has used: what a busy machine does not stretch without end.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Small texts that cost the libraries minutes, gigabytes or the process are refused or stopped at once.
func TestSmallTextsThatCostMuch(t *testing.T) {
	long := func(open string, n int) string { return strings.Repeat(open, n) }
	big := `[for i in range(100000) : "${i}"]`
	cases := map[string]struct {
		kind ir.ExprKind
		text string
	}{
		"parentheses":          {ir.Condition, long("(", 600_000) + "1" + long(")", 600_000)},
		"parentheses in HCL":   {ir.HCL, long("(", 400_000) + "1" + long(")", 400_000)},
		"open brackets":        {ir.HCL, long("[", 500_000)},
		"prefixes":             {ir.HCL, long("!", 1_000_000) + "true"},
		"conditionals":         {ir.HCL, long("true?1:", 100_000) + "1"},
		"a long sum":           {ir.HCL, "1" + long("+1", 500_000)},
		"nested templates":     {ir.HCL, long(`"${`, 3000) + "1" + long(`}"`, 3000)},
		"exponent":             {ir.HCL, `"${1e8000000}"`},
		"digits":               {ir.HCL, long("1", 1_000_000)},
		"doubling text":        {ir.Condition, `reduce(1..60, #acc + #acc, 'aaaaaaaaaaaaaaaa') == ''`},
		"repeat of repeat":     {ir.Condition, `len(repeat(repeat('a', 1000000), 1000000)) > 1`},
		"predicates":           {ir.Condition, `all(1..200000, all(1..200000, # > 0))`},
		"nested for":           {ir.HCL, `[for a in range(5000) : [for b in range(5000) : a * b]]`},
		"text in a for":        {ir.HCL, `[for a in range(5000) : join("", [for b in range(2000) : "aaaaaaaaaaaaaaaaaaaaaaa"])]`},
		"pattern":              {ir.HCL, `regexall("(.*a){900}b", repeat("a", 900000))`},
		"comparing":            {ir.HCL, `[for i in range(3000) : ` + big + ` == ` + big + `]`},
		"membership":           {ir.HCL, `[for i in range(200000) : contains(range(200000), -1)]`},
		"replace":              {ir.HCL, `replace(repeat("a", 1000000), "a", repeat("b", 1000000))`},
		"replace by a pattern": {ir.HCL, `replace(repeat("a", 100000), "/(a+)/", "$1$1$1$1$1$1$1$1$1$1$1$1$1")`},
		"merging":              {ir.HCL, `[for i in range(200000) : concat(range(1000), range(1000))]`},
		"pow":                  {ir.HCL, `pow(10, 10000)`},
		"json":                 {ir.HCL, `[for i in range(200000) : jsonencode(range(1000))]`},
		"indent":               {ir.HCL, `indent(1000, repeat("\n", 1000000))`},
		"tostring":             {ir.Condition, `all(1..200000, string(1..20000) != '')`},
		"a deep result":        {ir.HCL, `[for x in [` + long("[", 40) + "1" + long("]", 40) + `] : ` + long("[", 40) + "x" + long("]", 40) + "]"},
		"copies of copies":     {ir.HCL, `[for a in [[for b in [[for c in [range(300)] : [for i in range(300) : c]]] : [for i in range(300) : b]]] : [for i in range(300) : a]]`},
		"a long path":          {ir.HCL, "var" + long(".a", 500_000)},
		"sort":                 {ir.HCL, `[for i in range(200000) : sort(range(20000))]`},
	}
	limit := costs(t)
	for name, c := range cases {
		start := cpu()
		if err := stored(c.kind, c.text); err == nil {
			t.Errorf("%s: no error", name)
		}
		took := cpu() - start
		if took > limit {
			t.Errorf("%s: %v; %v are the limit", name, took, limit)
		}
		t.Logf("%-22s %v", name, took.Round(time.Millisecond))
	}
}

// Types and diagnostics of a hostile file stay small.
func TestManyFaultsAndCopies(t *testing.T) {
	limit := costs(t)
	start := cpu()
	env := benchEnv(10_000)
	src := "x = [" + strings.Repeat("step.nope.output, ", 20_000) + "]\n"
	if _, diags := Value(attribute(t, src), []byte(src), env); len(diags) != 20_000 || diags[19_999].Subject.Start.Column != 5+1+19_999*18+5 {
		t.Errorf("%d diagnostics", len(diags))
	}
	text := "let a0 = [1, 1]; "
	for i := range 20 {
		text += fmt.Sprintf("let a%d = [a%d, a%d, a%d]; ", i+1, i, i, i)
	}
	src = "x = " + quote(text+"a20 > 1") + "\n"
	if e, diags := Condition(attribute(t, src), []byte(src), env); e != nil || len(diags) != 1 || len(diags[0].Detail) > 20*MaxTypeSize {
		t.Errorf("%d diagnostics", len(diags))
	}
	if took := cpu() - start; took > limit {
		t.Errorf("%v; %v are the limit", took, limit)
	}
}

// What a file holds is guarded as what a store holds.
func TestFileBounds(t *testing.T) {
	for _, text := range []string{strings.Repeat("(", 600_000), strings.Repeat("!", 4_000) + "true", strings.Repeat("(", 33) + "true" + strings.Repeat(")", 33), "true" + strings.Repeat(" ", MaxConditionBytes), "a\uFFFDb"} {
		src := "x = " + quote(text) + "\n"
		if e, diags := Condition(attribute(t, src), []byte(src), testEnv()); e != nil || len(diags) != 1 {
			t.Errorf("%.20s…: %v", text, diags)
		}
	}
}

// An evaluator keeps trees for MaxKeptBytes of text, and begins anew with the one beyond.
func TestKeptTrees(t *testing.T) {
	ev := NewEvaluator(ir.NewestRules())
	const each = 512 << 10
	eval := func(i int) {
		text := fmt.Sprintf("%d", i)
		e := &ir.Expr{Kind: ir.HCL, Text: text + strings.Repeat(" ", each-len(text))}
		if v, err := ev.Eval(e, nil); err != nil || v != float64(i) {
			t.Fatal(v, err)
		}
	}
	for i := range MaxKeptBytes / each {
		eval(i)
		eval(i) // what is kept counts once
	}
	if len(ev.trees) != MaxKeptBytes/each || ev.kept != MaxKeptBytes {
		t.Errorf("%d trees of %d bytes at the bound", len(ev.trees), ev.kept)
	}
	eval(-1)
	if len(ev.trees) != 1 || ev.kept != each {
		t.Errorf("%d trees of %d bytes beyond the bound", len(ev.trees), ev.kept)
	}
	eval(0)
}

// Functions over maps give the same a thousand times.
func TestDeterminism(t *testing.T) {
	env, s := sameEnv(t)
	m := map[string]any{}
	for i := range 50 {
		m[fmt.Sprintf("k%d", i)] = float64(i % 7)
	}
	s.data["var"].(map[string]any)["m"] = m
	e := mustValue(t, `[keys(var.m), values(var.m), [for k, v in var.m : "${k}${v}"], { for k, v in var.m : v => k... }, jsonencode(var.m), merge(var.m, { a = 1 }), toset(values(var.m)), distinct(values(var.m)), var.m]`, env)
	c := mustCondition(t, `keys(var.m)[0] == 'k0' && values(var.m)[1] == 1 && map(sortBy(values(var.m), #), string(#)) != [] && toJSON(var.m) != ''`, env)
	var first []byte
	for range 1000 {
		v, err := NewEvaluator(ir.NewestRules()).Eval(e, s)
		if err != nil {
			t.Fatal(err)
		}
		got := value.Append(nil, v)
		if first == nil {
			first = got
		} else if string(first) != string(got) {
			t.Fatalf("two results:\n%s\n%s", first, got)
		}
		if ok, err := NewEvaluator(ir.NewestRules()).Eval(c, s); ok != true || err != nil {
			t.Fatal(ok, err)
		}
	}
}

// An evaluation asks for what it reads and nothing else, and never for more than Reads says.
func TestScopeIsAskedForReadsAlone(t *testing.T) {
	s := scopeOf(t, `{"var":{"min":1},"step":{"build":{"output":{"coverage":2},"status":"succeeded"}}}`)
	e := mustCondition(t, `step.build.output.coverage > var.min && step.build.status == 'succeeded'`, testEnv())
	if _, err := NewEvaluator(ir.NewestRules()).Eval(e, s); err != nil {
		t.Fatal(err)
	}
	for _, asked := range s.asked {
		found := false
		for _, r := range e.Reads {
			found = found || r == asked
		}
		if !found {
			t.Errorf("asked for %s, reads %v", asked, e.Reads)
		}
	}
	if got := refs(e.Reads); got != "step.build.output step.build.status var.min" {
		t.Error(got)
	}
}
