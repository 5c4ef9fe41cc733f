package expr

import (
	"reflect"
	"testing"

	exprlang "github.com/expr-lang/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

const sameData = `{"var":{"n":7,"f":2.5,"z":0,"s":"héllo","t":"true","yes":true,"l":[3,1,2],"names":["b","a","c"],"m":{"b":2,"a":1},
 "rows":[{"id":1,"tag":"x","ok":true},{"id":2,"tag":"y","ok":false},{"id":3,"tag":"x","ok":true}],"deep":[[1,[2]],[3]],"e":[],"nothing":null}}`

// sameEnv types everything as any, so that the comparison is of what is computed.
func sameEnv(t testing.TB) (*Env, *scope) {
	s := scopeOf(t, sameData)
	names := map[string]value.Type{}
	for n := range s.data["var"].(map[string]any) {
		names[n] = value.AnyType
	}
	return &Env{Roots: map[string]*Root{"var": {What: "variable", Names: names}}}, s
}

// Conditions compute what expr-lang's own virtual machine does, where the rules are not ours on purpose.
func TestConditionsAgreeWithExprLang(t *testing.T) {
	env, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	for _, text := range []string{
		`var.n == 7`, `var.n + 1 == 8`, `var.n - 1 * 2 == 5`, `(var.n - 1) * 2 == 12`, `var.n / 2 == 3.5`, `2 ** 3 == 8`, `-var.n < 0`,
		`var.n % 4 == 3 or true`, `var.s + '!' == 'héllo!'`, `var.s contains 'llo'`, `var.s startsWith 'h'`, `var.s endsWith 'o'`, `var.s matches '^h.llo$'`,
		`not (var.n > 3)`, `!var.yes || var.n >= 7`, `var.yes and var.n <= 7`, `var.yes && false`, `var.n in var.l`, `3 in var.l`, `'a' in var.m`, `'z' not in var.m`,
		`all(var.l, # > 0)`, `any(var.l, # > 2)`, `none(var.l, # > 5)`, `one(var.l, # == 3)`, `len(filter(var.l, # > 1)) == 2`,
		`map(var.l, # * 2) == [6, 2, 4]`, `count(var.l, # > 1) == 2`, `sum(var.l) == 6`, `sum(var.rows, .id) == 6`, `find(var.l, # < 3) == 1`, `find(var.l, # > 30) == nil`,
		`findIndex(var.l, # == 2) == 2`, `findLast(var.l, # > 1) == 2`, `findLastIndex(var.l, # > 1) == 2`, `reduce(var.l, #acc + #) == 6`, `reduce(var.l, #acc + #, 10) == 16`,
		`map(var.l, #index) == [0, 1, 2]`, `map(filter(var.rows, .ok), .id) == [1, 3]`, `len(groupBy(var.rows, .tag)) == 2`, `map(sortBy(var.rows, .id, 'desc'), .id) == [3, 2, 1]`,
		`sort(var.names) == ['a', 'b', 'c']`, `sort(var.l, 'desc') == [3, 2, 1]`, `reverse(var.l) == [2, 1, 3]`, `first(var.l) == 3`, `last(var.l) == 2`, `take(var.l, 2) == [3, 1]`,
		`var.l[0] == 3`, `var.l[-1] == 2`, `var.l[1:] == [1, 2]`, `var.l[:1] == [3]`, `var.l[:] == [3, 1, 2]`, `var.m.a == 1`, `var.m['a'] == 1`, `var.m?.a == 1`,
		`var.nothing?.x == nil`, `(var.nothing ?? 5) == 5`, `var.nothing == nil`, `(var.n > 3 ? 'a' : 'b') == 'a'`, `(if var.n > 3 {1} else {2}) == 1`, `let q = var.n; q == 7`,
		`1..3 == [1, 2, 3]`, `len(var.s) == 5`, `upper(var.s) == 'HÉLLO'`, `lower('ABC') == 'abc'`, `trim('  a ') == 'a'`, `trim('xax', 'x') == 'a'`, `trimPrefix('ab', 'a') == 'b'`,
		`replace('aba', 'a', 'c') == 'cbc'`, `repeat('ab', 2) == 'abab'`, `indexOf('abc', 'c') == 2`, `hasPrefix('abc', 'a')`, `hasSuffix('abc', 'c')`, `abs(-2) == 2`, `ceil(1.2) == 2`,
		`floor(1.8) == 1`, `round(1.5) == 2`, `int('12') == 12`, `float('1.5') == 1.5`, `max(1, 3, 2) == 3`, `min(var.l) == 1`, `mean([1, 2, 3]) == 2`, `flatten(var.deep) == [1, 2, 3]`,
		`uniq([1, 1, 2]) == [1, 2]`, `concat([1], [2]) == [1, 2]`, `toBase64('a') == 'YQ=='`, `fromJSON('{"a":1}').a == 1`, `{'a': 1}.a == 1`, `var.names | sort() | first() == 'a'`,
		`0x10 == 16`, `1_000 == 1000`, `1e3 == 1000`, `'a' < 'b'`, `len(var.e) == 0`, `all(var.e, # > 1)`, `"a" + 'b' == "ab"`, "`a\\b` == 'a\\\\b'", `true ? true : false`,
		`var.rows[0].tag == 'x'`, `any(var.rows, any(var.l, # == 3) && .ok)`, `any(var.names, # contains ('a' + ''))`, `any(var.names, # not contains ('a' + ''))`, `len(var.m) == 2`, `not ('x' contains 'y')`, `string(5) == '5'`,
	} {
		want, err := exprlang.Eval(text, s.data)
		if err != nil && text != `var.n % 4 == 3 or true` { // % of float64 does not compile there
			t.Errorf("%s: expr-lang: %v", text, err)
			continue
		}
		if err != nil {
			want = true
		}
		got, err := ev.Eval(mustCondition(t, text, env), s)
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v; expr-lang gives %v", text, got, err, want)
		}
	}
}

// hclContext has sameData, and the functions of cty.
func hclContext(t *testing.T) *hcl.EvalContext {
	t.Helper()
	ty, err := ctyjson.ImpliedType([]byte(sameData))
	if err != nil {
		t.Fatal(err)
	}
	data, err := ctyjson.Unmarshal([]byte(sameData), ty)
	if err != nil {
		t.Fatal(err)
	}
	return &hcl.EvalContext{Variables: data.AsValueMap(), Functions: map[string]ctyfunction.Function{
		"upper": stdlib.UpperFunc, "lower": stdlib.LowerFunc, "title": stdlib.TitleFunc, "strrev": stdlib.ReverseFunc, "trim": stdlib.TrimFunc, "trimspace": stdlib.TrimSpaceFunc,
		"trimprefix": stdlib.TrimPrefixFunc, "trimsuffix": stdlib.TrimSuffixFunc, "chomp": stdlib.ChompFunc, "indent": stdlib.IndentFunc, "substr": stdlib.SubstrFunc,
		"split": stdlib.SplitFunc, "join": stdlib.JoinFunc, "replace": stdlib.ReplaceFunc, "format": stdlib.FormatFunc, "regex": stdlib.RegexFunc, "regexall": stdlib.RegexAllFunc,
		"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "floor": stdlib.FloorFunc, "max": stdlib.MaxFunc, "min": stdlib.MinFunc, "pow": stdlib.PowFunc, "signum": stdlib.SignumFunc, "parseint": stdlib.ParseIntFunc,
		"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "distinct": stdlib.DistinctFunc, "element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc, "keys": stdlib.KeysFunc,
		"values": stdlib.ValuesFunc, "lookup": stdlib.LookupFunc, "merge": stdlib.MergeFunc, "range": stdlib.RangeFunc, "reverse": stdlib.ReverseListFunc, "slice": stdlib.SliceFunc, "sort": stdlib.SortFunc,
		"zipmap": stdlib.ZipmapFunc, "coalesce": stdlib.CoalesceFunc, "coalescelist": stdlib.CoalesceListFunc, "compact": stdlib.CompactFunc, "chunklist": stdlib.ChunklistFunc,
		"jsonencode": stdlib.JSONEncodeFunc, "jsondecode": stdlib.JSONDecodeFunc, "length": stdlib.LengthFunc, "setunion": stdlib.SetUnionFunc, "setsubtract": stdlib.SetSubtractFunc, "setintersection": stdlib.SetIntersectionFunc,
		"setproduct": stdlib.SetProductFunc, "formatlist": stdlib.FormatListFunc, "csvdecode": stdlib.CSVDecodeFunc, "timeadd": stdlib.TimeAddFunc, "formatdate": stdlib.FormatDateFunc,
	}}
}

// Values compute what HCL and cty do, where the rules are not ours on purpose.
func TestValuesAgreeWithHCL(t *testing.T) {
	env, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	ctx := hclContext(t)
	for _, text := range []string{
		`1 + 2 * 3`, `(1 + 2) * 3`, `7 / 2`, `7 % 4`, `-7 % 4`, `-var.n`, `!var.yes`, `var.n == 7`, `var.n != 7`, `var.n > 3 && var.n < 10`, `var.yes || false`, `var.n >= 8`,
		`"a${var.s}b"`, `"${var.n}"`, `"${var.f} ${var.yes}"`, `"$${x} %%{y}"`, `var.yes ? "a" : "b"`, `"%{ if var.yes }yes%{ else }no%{ endif }"`, `"%{ for x in var.names }${x},%{ endfor }"`,
		`var.l[0]`, `var.l[1] + 1`, `var.m.a`, `var.m["b"]`, `var.rows[0].tag`, `var.rows[*].id`, `var.rows.*.tag`, `var.s[*]`, `var.nothing[*]`, `[1, "a", true, null]`, `{ a = 1, "b" = 2, (var.s) = 3 }`,
		`[for x in var.l : x * 2]`, `[for i, x in var.l : i]`, `[for k, v in var.m : "${k}=${v}"]`, `{ for k, v in var.m : v => k }`, `{ for r in var.rows : r.tag => r.id... }`, `[for x in var.l : x if x > 1]`,
		`upper(var.s)`, `lower("ABC")`, `title("ab cd")`, `strrev("abc")`, `trim("xaxx", "x")`, `trimspace(" a ")`, `trimprefix("ab", "a")`, `trimsuffix("ab", "b")`, `chomp("a\n\n")`, `indent(2, "a\nb")`,
		`substr("hello", 1, 3)`, `substr("hello", -3, 2)`, `substr("hello", 1, -1)`, `substr("hello", 1, 99)`, `split(",", "a,b")`, `split(",", "")`, `split("", "ab")`, `join("-", var.names)`, `join("-", ["a"], ["b"])`,
		`replace("a.b", ".", "-")`, `format("%s-%d-%05.1f-%q-%v%%", "a", 3, 2.25, "q", true)`, `format("%3d|%-3d|%x", 7, 7, 255)`, `regex("[a-z]+", "12ab")`, `regex("(\\d)(\\d)", "12ab")`, `regex("(?P<x>\\d)", "12")`,
		`regexall("[a-z]", "a1b")`, `abs(-3)`, `ceil(1.2)`, `floor(-1.2)`, `max(1, 3, 2)`, `min(1, 3, 2)`, `pow(2, 10)`, `signum(-3)`, `parseint("ff", 16)`, `parseint("-101", 2)`,
		`concat([1], [2, 3], [])`, `contains(var.names, "a")`, `distinct(["a", "a", "b"])`, `element(var.names, 4)`, `element(var.names, -1)`, `flatten(var.deep)`, `flatten([[], [[]]])`, `keys(var.m)`, `values(var.m)`,
		`lookup(var.m, "a", 0)`, `lookup({ a = 1 }, "z", 9)`, `merge({ a = 1 }, { b = 2, a = 3 })`, `merge({ a = 1 }, null)`, `range(3)`, `range(1, 4)`, `range(1, 8, 3)`, `range(3, 0)`, `range(0)`, `reverse(var.names)`,
		`slice(var.names, 1, 2)`, `sort(var.names)`, `zipmap(["a", "b"], [1, 2])`, `coalesce(null, "b")`, `coalesce(null, 3)`, `coalescelist([], [1])`, `compact(["a", "", "b"])`, `chunklist(var.names, 2)`, `jsonencode({ b = [1, null], a = "x" })`,
		`jsondecode("{\"a\":[1,true]}")`, `length(var.l)`, `setunion(["a"], ["b", "a"])`, `setsubtract(["a", "b"], ["a"])`, `setintersection(["a", "b"], ["b"])`,
		"<<EOT\na ${var.n}\n  b\nEOT", "<<-EOT\n    a ${var.n}\n      b\n    EOT", `"a\tb\u00e9\"\\"`, `upper("x")`, `1e3`, `0.5`, `1.0`, `12345678901`, `0.000001 * 1`, `"${1000000}"`, `max(var.l...)`,
		`setproduct(["a", "b"], [1, 2, 3])`, `setproduct(["a", "b"], ["x"], ["p", "q"])`, `setproduct(["a"], [])`, `setproduct([], [])`, `setproduct(var.names, var.l)`, `setproduct([[1], [2]], ["a"])`, `setproduct([["x", "y"], ["z"]]...)`,
		`formatlist("%s-%d", ["a", "b"], [1, 2])`, `formatlist("%s %s", "x", var.names)`, `formatlist("%s", "one")`, `formatlist("none")`, `formatlist("%s", [])`, `formatlist("%5.1f|%q", [1.25, 2], "q")`,
		`csvdecode("a,b\n1,2\n\"x,y\",\"q\"\"r\"\n")`, `csvdecode("a\n")`, `csvdecode("a,b\r\n1,é")`,
		`timeadd("2030-01-31T09:00:00Z", "36h")`, `timeadd("2030-01-31T09:00:00+02:00", "-1h30m15.5s")`, `timeadd("2028-02-28T23:59:59.25Z", "1s")`,
		`formatdate("DD MMM YYYY hh:mm ZZZ", "2018-01-02T23:12:01Z")`, `formatdate("EEEE, DD-MMM-YY hh:mm:ss ZZZ", "2018-01-02T23:12:01-08:00")`, `formatdate("h'h'mm''H AA", "2018-01-02T23:12:01Z")`, `formatdate("M D s Z", "2018-01-02T03:04:05Z")`,
	} {
		src := "x = " + text + "\n"
		want, diags := attribute(t, src).Value(ctx)
		if diags.HasErrors() {
			t.Errorf("%s: HCL: %v", text, diags)
			continue
		}
		got, err := ev.Eval(mustValue(t, text, env), s)
		if err != nil || !reflect.DeepEqual(got, plain(want)) {
			t.Errorf("%s: got %#v, %v; HCL gives %#v", text, got, err, plain(want))
		}
	}
}

// plain is a cty value as data.
func plain(v cty.Value) value.Value {
	switch {
	case v.IsNull():
		return nil
	case v.Type() == cty.String:
		return v.AsString()
	case v.Type() == cty.Bool:
		return v.True()
	case v.Type() == cty.Number:
		f, _ := v.AsBigFloat().Float64()
		return f
	case v.Type().IsObjectType() || v.Type().IsMapType():
		out := map[string]any{}
		for k, e := range v.AsValueMap() {
			out[k] = plain(e)
		}
		return out
	}
	out := []any{}
	for _, e := range v.AsValueSlice() {
		out = append(out, plain(e))
	}
	return out
}

// What is ours on purpose: null reads through, nothing is parsed to fit, numbers are float64 up to 2^53.
func TestBothLanguagesAgreeWithEachOther(t *testing.T) {
	env, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	for _, text := range []string{
		`var.nothing.x.y == null`, `var.m.nope == null`, `var.m["nope"] == null`, `length(var.l) == 3`, `lower("A") == "a"`, `contains(var.l, 1)`, `var.n == 7 ? true : false`,
		`coalesce(var.nothing, 3) == 3`, `try(var.nothing.x, 3) == 3`, `can(var.n)`, `!can(var.nothing.x)`, `var.n % 2.5 == 2`, `join(",", var.names) == "b,a,c"`, `keys(var.m) == ["a", "b"]`,
		`values(var.m) == [1, 2]`, `0.1 + 0.2 != 0.3`, `split(",", "a,b") == ["a", "b"]`, `sort(var.l) == [1, 2, 3]`, `max(1, 2) == 2`, `toset(["b", "a", "b"]) == ["a", "b"]`,
		`substr("abc", 0, 2) == "ab"`, `format("%s", 1.5) == "1.5"`, `sha256("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"`, `md5("a") == "0cc175b9c0f1b6a831c399e269772661"`,
		`base64decode(base64encode("ü")) == "ü"`, `tonumber("1.5") == 1.5`, `tostring(true) == "true"`, `tobool("false") == false`, `alltrue([true, true])`, `anytrue([false, true])`,
	} {
		a, errA := ev.Eval(mustCondition(t, text, env), s)
		b, errB := ev.Eval(mustValue(t, text, env), s)
		if a != true || b != true || errA != nil || errB != nil {
			t.Errorf("%s: condition %v, %v; value %v, %v", text, a, errA, b, errB)
		}
	}
	for _, text := range []string{
		`var.n / var.z == 1`, `var.n % var.z == 1`, `var.s > 1`, `var.l > 1`, `!var.n`, `var.nothing > 1`, `-var.s == 1`, `var.nothing + 1 == 1`, `9007199254740992 + var.n == 1`, `var.l[3] == 1`,
		`var.s.x == 1`, `var.n && true`, `upper(var.nothing) == "A"`, `length(var.n) == 1`, `index(var.l, 9) == 1`, `jsondecode(var.s) == 1`, `regex("z", var.s) == ""`, `var.l["a"] == 1`,
	} {
		if v, err := ev.Eval(mustCondition(t, text, env), s); err == nil {
			t.Errorf("condition %s gives %v, an error is needed", text, v)
		}
		if v, err := ev.Eval(mustValue(t, text, env), s); err == nil {
			t.Errorf("value %s gives %v, an error is needed", text, v)
		}
	}
}
