package expr

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	exprlang "github.com/expr-lang/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

var (
	randomCount = flag.Int("expr.random", 1000, "how many random expressions of each language are compared with its library")
	randomSeed  = flag.Uint64("expr.seed", 1, "draws the random expressions")
)

// writer writes random expressions over sameData. Their numbers are multiples of a power of 2, so that float64 and the
// numbers of cty are exact.
type writer struct {
	*rand.Rand
	condition bool // the language: expr-lang, or HCL
	depth     int
}

// of draws one of some forms, and puts drawn expressions into it: N for a number, S for a string, B for a bool, L for a list
// of numbers, T for a list of strings, I for a small whole number.
func (w *writer) of(kind byte) string {
	if w.depth <= 0 || w.IntN(6) == 0 {
		return w.pick(leaves[kind])
	}
	forms := bothForms[kind]
	if own := hclForms[kind]; !w.condition {
		forms = append(forms[:len(forms):len(forms)], own...)
	} else {
		forms = append(forms[:len(forms):len(forms)], exprForms[kind]...)
	}
	return w.fill(w.pick(forms))
}

func (w *writer) pick(list []string) string { return list[w.IntN(len(list))] }

func (w *writer) fill(form string) string {
	w.depth--
	defer func() { w.depth++ }()
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '@' {
			b.WriteByte(form[i])
			continue
		}
		i++
		b.WriteString(w.of(form[i]))
	}
	return b.String()
}

// An @ and a letter stand for an expression of that kind.
var (
	leaves = map[byte][]string{
		'N': {"0", "1", "2", "3", "0.5", "var.n", "var.f", "var.z", "var.m.a", "var.rows[1].id", "var.l[0]", "(-4)"},
		'I': {"0", "1", "2", "3", "var.z", "var.l[1]"},
		'S': {`"a"`, `""`, `"héllo"`, "var.s", "var.t", "var.names[0]", "var.rows[2].tag", `"x y"`},
		'B': {"true", "false", "var.yes", "var.rows[1].ok"},
		'L': {"var.l", "[1, 2]", "[0.5]", "var.e"},
		'T': {"var.names", `["b", "a"]`, `["", "x"]`},
	}
	bothForms = map[byte][]string{
		'N': {"(@N + @N)", "(@N - @N)", "(@N * @N)", "(@N / 2)", "(@N / 0.25)", "(-@N)", "abs(@N)", "ceil(@N)", "floor(@N)", "max(@N, @N)", "min(@N, @N, @N)", "(@B ? @N : @N)"},
		'I': {"(@I + @I)", "max(@I, @I)"},
		'S': {"upper(@S)", "lower(@S)", "(@B ? @S : @S)", `replace(@S, "l", "-")`},
		'B': {"(@N == @N)", "(@N != @N)", "(@N < @N)", "(@N <= @N)", "(@N > @N)", "(@N >= @N)", "(@S == @S)", "(@S != @S)", "(@B && @B)", "(@B || @B)", "(!@B)", "(@B == @B)", "(@B ? @B : @B)"},
		'L': {"[@N, @N]", "concat(@L, @L)", "[@N]"},
		'T': {"[@S, @S]", "concat(@T, @T)"},
	}
	// Forms of conditions.
	exprForms = map[byte][]string{
		'N': {"len(@L)", "len(@S)", "len(@T)", "sum(@L)", "count(@L, # > @N)", "reduce(@L, #acc + # * 2, @N)", "(@L | first() ?? @N)", "indexOf(@S, @S)", "sum(@L, # * @N)", "round(@N)", "mean([@N, @N])",
			"(if @B { @N } else { @N })", "(let q = @N; q + q)", "@L[-1]", "(find(@L, # > @N) ?? @N)", "var.l[@I]", "(findIndex([@N, @N], # >= 2) ?? @N)"},
		'I': {"len(@L)"},
		'S': {"(@S + @S)", "trim(@S)", "var.names[@I]", "@T[0]", "trimPrefix(@S, @S)", "trimSuffix(@S, @S)", "repeat(@S, 2)", "(last(@T) ?? @S)"},
		'B': {"(@S contains @S)", "(@S startsWith @S)", "(@S endsWith @S)", "(@N in @L)", "(@S in @T)", "(@S in var.m)", "(@N not in @L)", "all(@L, # > @N)", "any(@L, # == @N)", "none(@L, # <= @N)", "one(@L, # < @N)",
			"(@T == @T)", "not @B", "(@B and @B)", "(@B or @B)", "(@S < @S)", "hasPrefix(@S, @S)", "(@S matches '^[a-h]')", "any(@T, # contains @S)", "all(map(@L, # + @N), # >= #index)", "(var.nothing?.x == nil)"},
		'L': {"filter(@L, # > @N)", "map(@L, # * @N)", "map(@T, len(#))", "sort(@L)", "sort(@L, 'desc')", "reverse(@L)", "take(@L, 2)", "@L[1:]", "@L[:1]", "uniq(@L)", "map(@L, #index)", "flatten([@L, @L])", "sortBy(@L, -#)"},
		'T': {"sort(@T)", "reverse(@T)", "filter(@T, # != @S)", "map(@T, upper(#))", "uniq(@T)", "map(var.rows, .tag)", "take(@T, 1)"},
	}
	// Forms of values. On purpose no text is "${x}" alone, whose type cty fits to its neighbours, no list is compared, which in
	// cty may be a tuple, and no text is made of 0, which in cty can be -0.
	hclForms = map[byte][]string{
		'N': {"length(@L)", "length(@T)", "signum(@I)", "element([@N, @N], @I)", `lookup({ a = @N }, "a", @N)`, `{ a = @N, b = @N }.b`, "max([@N, @N]...)", "(@I % 4)", "concat([for x in @L : x + @N], [@N])[0]", "var.l[@I % 3]"},
		'I': {"length(@L)"},
		'S': {`"a${@S}b"`, `"n = ${@N + 99}"`, `"${@B}:${@S}"`, `"%{ if @B }${@S}%{ else }no%{ endif }"`, `"%{ for x in @T }${x},%{ endfor }"`, `join("-", @T)`, "trimspace(@S)", "trimprefix(@S, @S)", "trimsuffix(@S, @S)", "substr(@S, @I, 2)", "strrev(@S)",
			`jsonencode([for x in @L : x - 99])`, `jsonencode(@T)`, `jsonencode({ b = @N + 99, a = @S })`, `format("%s|%v", @S, @N + 99)`, "title(@S)", "chomp(@S)", `element([@S, @S], @I)`},
		'B': {"contains([@N, @N], @N)", "contains(@T, @S)"},
		'L': {"[for x in @L : x * @N]", "[for i, x in @L : i if x > @N]", "range(@I)", "range(@I, 6, 2)", "var.rows[*].id", "[for r in var.rows : r.id if r.ok]", "flatten([@L, [@L]])", "slice([@N, @N, @N], 1, 2)", "values({ a = @N, b = @N })", "(@B ? @L : @L)"},
		'T': {"reverse(@T)", "sort(@T)", "distinct(@T)", "compact(@T)", `split("l", @S)`, "keys({ b = 1, a = @N })", "[for s in @T : upper(s)]", "[for k, v in var.m : \"${k}${v}\"]", "values({ a = @S })"},
	}
)

// Random conditions compute what expr-lang does.
func TestRandomConditionsAgree(t *testing.T) {
	env, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	compareRandom(t, true, func(text string) (any, error) {
		v, err := exprlang.Eval(text, s.data)
		return floats(v), err
	}, func(text string, want any) (any, error) { // a condition is true or false, so it is asked whether it is what it should be
		text += " == " + literal(want)
		src := "x = " + quote(text) + "\n"
		e, diags := Condition(attribute(t, src), []byte(src), env)
		if diags.HasErrors() {
			return nil, fmt.Errorf("%s: %s", diags[0].Summary, diags[0].Detail)
		}
		if v, err := ev.Eval(e, s); err != nil || v != true {
			return text, err
		}
		return want, nil
	})
}

// Random values are those of HCL and cty.
func TestRandomValuesAgree(t *testing.T) {
	env, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	ctx := hclContext(t)
	compareRandom(t, false, func(text string) (any, error) {
		v, diags := attribute(t, "x = "+text+"\n").Value(ctx)
		if diags.HasErrors() {
			return nil, diags
		}
		return plain(v), nil
	}, func(text string, _ any) (any, error) {
		src := "x = " + text + "\n"
		e, diags := Value(attribute(t, src), []byte(src), env)
		if diags.HasErrors() {
			return nil, fmt.Errorf("%s: %s", diags[0].Summary, diags[0].Detail)
		}
		return ev.Eval(e, s)
	})
}

// compareRandom compares what a library makes of random expressions with what is made of them here: equal values, or two errors.
func compareRandom(t *testing.T, condition bool, theirs func(string) (any, error), ours func(string, any) (any, error)) {
	t.Helper()
	w := &writer{Rand: rand.New(rand.NewPCG(*randomSeed, 1)), condition: condition}
	computed, refused, bounded := 0, 0, 0
	for n := range *randomCount {
		w.depth = 1 + n%4
		text := "(" + w.of("NSBLTI"[n%6]) + ")"
		if n%9 == 0 { // there may be none; HCL forgives that on the left of &&, so it stands outermost
			text = w.fill("[@L, var.l[@I]]")
		}
		want, theirErr := theirs(text)
		got, err := ours(text, want)
		switch {
		case err != nil && theirErr != nil:
			refused++
		case err != nil && strings.HasPrefix(err.Error(), "More than 2 predicates"):
			bounded++ // here alone
		case err != nil || theirErr != nil || !reflect.DeepEqual(got, want):
			t.Errorf("%s\n  here: %v, %v\n  there: %v, %v", text, got, err, want, theirErr)
		default:
			computed++
		}
	}
	t.Logf("%d expressions have equal values, %d are errors in both, %d have too many predicates in each other", computed, refused, bounded)
	if computed < *randomCount/2 {
		t.Errorf("only %d of %d expressions have a value: this proves little", computed, *randomCount)
	}
}

// floats is a value of expr-lang with all its numbers as float64.
func floats(v any) any {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int:
		return float64(r.Int())
	case reflect.Slice:
		list := make([]any, r.Len())
		for i := range list {
			list[i] = floats(r.Index(i).Interface())
		}
		return list
	}
	return v
}

// literal writes a value as an expression of conditions.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case []any:
		var items []string
		for _, x := range v {
			items = append(items, literal(x))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return string(value.Append(nil, v)) // JSON
}
