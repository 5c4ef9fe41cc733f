package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func encodeYAML(v value.Value) (string, error) {
	s, err := functions["yamlencode"].call(&run{}, []value.Value{v})
	text, _ := s.(string)
	return text, err
}

// What YAML texts are, as JSON.
func TestYAMLDecode(t *testing.T) {
	for text, want := range map[string]string{
		"": "null", "# nothing\n": "null", "---\n": "null", "--- 1\n...\n": "1", "a: 1\nb: [x, 'y', \"z\\n\"]\n": `{"a":1,"b":["x","y","z\n"]}`,
		"- ~\n- null\n- true\n- False\n- yes\n- off\n- 'yes'\n- !!str true\n- \"\"\n-":               `[null,null,true,false,true,false,"yes","true","",null]`,
		"[0123, 0o17, 0x1F, 1e3, -.5, +7, 1_000, 1:30, 0b1, .5.5, -0]":                               `[123,15,31,1000,-0.5,7,"1_000","1:30","0b1",".5.5",0]`,
		"[2001-12-14, 2001-12-14t21:59:43.10-05:00, !!timestamp 2001-12-14]":                         `["2001-12-14","2001-12-14t21:59:43.10-05:00","2001-12-14"]`,
		"[!!int \"5\", !!float 1, !!bool yes, !!null '', !!binary aGk=, !<tag:yaml.org,2002:str> 5]": `[5,1,true,null,"aGk=","5"]`,
		"on: push\ny: 1\n'2': x\n!!str 3: z\n":                                                       `{"2":"x","3":"z","on":"push","y":1}`,
		"a: |\n  x\n  y\nb: >-\n  x\n  y\nc: x\n  y\n":                                               `{"a":"x\ny\n","b":"x y","c":"x y"}`,
		"a: &a {x: 1}\nb: *a\nc: [*a, *a]\n":                                                         `{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}`,
		"&k key: 1\nb: &k v\nc: *k\n":                                                                `{"b":"v","c":"v","key":1}`,
		"a: &a {x: 1, y: 1}\nb:\n  <<: *a\n  y: 2\n":                                                 `{"a":{"x":1,"y":1},"b":{"x":1,"y":2}}`,
		"a: &a {x: 1}\nb:\n  x: 2\n  <<: [*a, {x: 3}]\n":                                             `{"a":{"x":1},"b":{"x":3}}`, // the last one counts, as in Terraform
		"{'<<': 1}": `{"<<":1}`,
		"{}":        "{}", "[]": "[]", "{a: , b}": `{"a":null,"b":null}`, "\ufeffa: 1": `{"a":1}`,
	} {
		v, err := (&run{}).yaml(text)
		if got := string(value.Append(nil, v)); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}

// What is refused, with the place.
func TestYAMLRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: 2\na: 3\n": `line 3: the key "a" stands twice`, "a: 1\n---\nb: 2\n": "line 2: a second document", "a: 1\n---\n[": "not YAML",
		"x: 1\n2: y\n": "line 2: the key 2 is", "x: 1\ntrue: y\n": "line 2: the key true is", "~: y": "line 1: the key ~ is", "? [a]\n: 1\n": "line 1: a key is a list", "{{a: b}: c}": "a key is a list or an object",
		"a:\n  - !color red\n": "line 2: the tag !color", "!!set {a, b}": "the tag !!set", "!!omap []": "the tag !!omap", "!!seq {a: 1}": "!!seq", "!!python/object:os.system x": "!!python",
		"a: !!int 1.5": `"1.5" is not a number`, "!!float x": "not a number", "!!bool 1": "not a bool", "!!null x": "not null", "!!binary '*'": "not base64",
		"a: .inf": "line 1: the number .inf is out of range", "-.INF": "out of range", ".nan": "out of range", "9007199254740993": "beyond 2^53", "0xFFFFFFFFFFFFFFFFFF": "beyond 2^53", "1e300": "beyond 2^53", "1e999": "out of range",
		"a: &a [*a]": "line 1: the alias *a is inside", "&a {x: &b [*a, *b]}": "the alias *a", "a: *nope": "nope", "a: &a {<<: *a}": "the alias *a",
		"<<: 1": "line 1: << needs an object", "<<: [{a: 1}, 2]": "<< needs an object", "a: b: c": "not YAML: mapping values", "a:\n\t- b": "line 2", "[1, 2": "not YAML", "\xff": "UTF-8", "a: \x01": "control characters", "\"\\q\"": "not YAML", "%YAML 3.0\n--- a": "incompatible",
		strings.Repeat("[", value.MaxDepth+1) + strings.Repeat("]", value.MaxDepth+1): "levels of nesting",
	} {
		if v, err := (&run{}).yaml(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v; want %s", text, v, err, want)
		}
	}
}

// bomb has ten times as many texts with each line.
func bomb(lines int, open, comma, end string) string {
	b := "a0: &a0 x\n"
	for i := 1; i <= lines; i++ {
		b += fmt.Sprintf("a%d: &a%d %s%s%s\n", i, i, open, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d%s", i-1, comma), 10), comma), end)
	}
	return b
}

// Hostile texts are refused at a bound, or read, and never expanded without a bound. None panics or takes long.
func TestYAMLIsBounded(t *testing.T) {
	limit := costs(t)
	at := cpu()
	rep := strings.Repeat
	for name, c := range map[string]struct {
		text    string
		bounded bool // at a bound of the evaluation, which try does not catch
	}{
		"aliases": {bomb(9, "[", ",", "]"), true}, "a deep bomb": {bomb(60, "[", ",", "]"), true}, "few aliases": {bomb(4, "[", ",", "]"), false},
		"long scalars": {"a: &a " + rep("1", 100000) + "x\nb: [" + rep("*a,", 1000) + "]\n", true}, "long digits": {rep("1", 200000), false},
		"merges": {"a0: &a0 {k: 1}\n" + func() (b string) {
			for i := 1; i < 40; i++ {
				b += fmt.Sprintf("a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i-1, i-1)
			}
			return b
		}(), true},
		"too long": {rep(" ", MaxBytes/yamlNodeBytes+1), true}, "many members": {"[" + rep("a,", 250000) + "]", true}, "as many as fit": {"[" + rep("a,", 100000) + "]", false},
		"brackets": {rep("[", 200000), false}, "braces": {"x: " + rep("{", 200000), false}, "dashes": {rep("- ", 100000), false}, "lines of dashes": {rep(rep("- ", 1000)+"\n", 120), false}, "question marks": {rep("? ", 100000), false},
		"comments": {rep("# x\n", 60000), false}, "comments in a list": {rep("# x\n- a # y\n\n", 15000), false}, "one comment": {"#" + rep("x", 250000), false}, "comments behind": {"a: 1\n" + rep("# x\n\n", 50000), false},
		"anchors": {rep("- &a a\n", 30000), false}, "keys": {"{" + rep("a: b: ", 40000), false}, "colons": {rep("a:\n", 60000), false}, "deeper and deeper": {func() (b string) {
			for i := range 600 {
				b += rep(" ", i) + "a:\n"
			}
			return b
		}(), false},
		"blank lines": {"a: |\n" + rep("\n", 250000) + "  x", false}, "a folded text": {"a: >\n" + rep(" x\n\n", 60000), false}, "quotes": {rep("'", 250000), false}, "escapes": {"\"" + rep("\\x41", 60000) + "\"", false},
		"tags": {rep("!a ", 80000), false}, "directives": {rep("%TAG ! !\n", 25000), false}, "documents": {rep("---\n", 60000), false}, "percent": {"!" + rep("%41", 80000) + " x", false},
		"a tail": {"a:\n- b\n # c\n  # d\n# e\nf: g\n#h", false}, "a comment in flow": {"[a, # b\n# c\n]", false}, "zero": {"a\x00b", false}, "half of a pair": {`"\ud800"`, false}, "a mark": {"a: \ufeffb", false}, "ends of lines": {"a: b\u2028c\u0085d", false},
		"the longest key": {"\"" + rep("k", 5000) + "\": 1", false}, "an indicator": {"|9999999999\n x", false}, "&": {"&", false}, "*": {"*", false}, "!": {"!", false}, "%": {"%", false}, "@": {"@a", false}, "`": {"`a", false}, "colon": {":", false}, "?": {"?", false}, "-": {"-", false},
	} {
		before := cpu()
		v, err := (&run{}).yaml(c.text)
		if isLimit(err) != c.bounded {
			t.Errorf("%s: %v", name, err)
		}
		if took := cpu() - before; took > limit/10 {
			t.Logf("%s takes %v", name, took)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%s: a message of %d bytes", name, len(err.Error()))
		}
		if text, tooLong := encodeYAML(v); err == nil && tooLong == nil {
			if w, err := (&run{}).yaml(text); !isLimit(err) && (err != nil || !value.Equal(v, w)) {
				t.Errorf("%s: what was read, written, and read is something else, or %v", name, err)
			}
		}
	}
	if took := cpu() - at; took > 2*limit {
		t.Errorf("%v of processor time", took)
	}
	for text, fits := range map[string]bool{
		`length(yamlencode(repeat("\u0001", 170000)))`: true, `length(yamlencode(repeat("\u0001", 180000)))`: false, `length(yamlencode(range(100000)))`: true, `length(yamlencode([for a in range(1000) : [for b in range(200) : repeat("x", 10)]]))`: false,
	} {
		if err := stored(ir.HCL, text); (err == nil) != fits || err != nil && !isLimit(err) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// The style is Terraform's.
func TestYAMLEncode(t *testing.T) {
	for json, want := range map[string]string{
		`{"foo":[1,{"a":"b","c":"d"},3],"bar":"baz"}`: "\"bar\": \"baz\"\n\"foo\":\n- 1\n- \"a\": \"b\"\n  \"c\": \"d\"\n- 3\n",
		`{"a":{"b":{},"c":[],"d":{"e":null}}}`:        "\"a\":\n  \"b\": {}\n  \"c\": []\n  \"d\":\n    \"e\": null\n",
		`[[1,[2]],[],[[{"a":[true]}]]]`:               "- - 1\n  - - 2\n- []\n- - - \"a\":\n      - true\n",
		`true`:                                        "true\n...\n", `null`: "null\n...\n", `0`: "0\n...\n", `"yes"`: "\"yes\"\n", `{}`: "{}\n", `[]`: "[]\n",
		`["no","0123","1e3","2001-01-01","~","",1e-7,0.5,-3]`:   "- \"no\"\n- \"0123\"\n- \"1e3\"\n- \"2001-01-01\"\n- \"~\"\n- \"\"\n- 1.0e-07\n- 0.5\n- -3\n",
		`{"a":"x\n  y\n","b":["x\n\ny"]}`:                       "\"a\": |\n  x\n    y\n\"b\":\n- |-\n  x\n\n  y\n",
		`["a \nb","\na\n","a\n\n"," a\nb","a\u0007\nb","\t\r"]`: "- \"a \\nb\"\n- \"\\na\\n\"\n- \"a\\n\\n\"\n- \" a\\nb\"\n- \"a\\u0007\\nb\"\n- \"\\t\\r\"\n",
		`"\u0085\u2028\ufeff\ufffeé😀\"\\"`:                      "\"\\u0085\\u2028\\ufeff\\ufffeé😀\\\"\\\\\"\n",
	} {
		v, err := value.Decode([]byte(json))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encodeYAML(v); err != nil || got != want {
			t.Errorf("%s:\n%s%v\nwant\n%s", json, got, err, want)
		}
	}
}

// Every value that is written is read again as the same one, by flowrun and by the library's own rules.
func TestYAMLBothWays(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("ab \n\n\t#:-|>&*!%@`'\"\\{}[],?~\r\u0085\u00a0\u2028\u2029\ufeff\ufffd\ufffe\uffff😀\x00\x1b\x7f"))),
		rapid.SampledFrom([]string{"yes", "no", "on", "off", "y", "null", "~", "", "0123", "1e3", "0x1F", "1_0", "12:30", "2001-01-01", "<<", "=", "---", "...", "a\n---\nb", "a\n...\n", "# a\nb", "a: b\nc: d\n", "- a", "a\n\tb", "é\nü\n", strings.Repeat("k", 1100), strings.Repeat("é", 1020)}))
	number := rapid.Custom(func(t *rapid.T) any {
		v, _ := value.Number(rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64Range(-value.MaxNumber, value.MaxNumber), rapid.Map(rapid.IntRange(-1000, 1000), func(i int) float64 { return float64(i) }), rapid.SampledFrom([]float64{5e-324, 1e-7, 1e-6, 1.5e-9, value.MaxNumber})).Draw(t, "number"))
		return v
	})
	var nested func(depth int) *rapid.Generator[any]
	nested = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](false), number, rapid.Map(text, func(s string) any { return s }))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(nested(depth-1), 0, 4), func(l []any) any { return append([]any{}, l...) }),
			rapid.Map(rapid.MapOfN(text, nested(depth-1), 0, 4), func(m map[string]any) any { return m }))
	}
	values := nested(4)
	rapid.Check(t, func(rt *rapid.T) {
		v := values.Draw(rt, "value")
		text, err := encodeYAML(v)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := (&run{}).yaml(text); err != nil || !value.Equal(got, v) {
			rt.Fatalf("%s\nis\n%s\nand read again %s, %v", value.Append(nil, v), text, value.Text(got), err)
		}
		var theirs any
		if err := yaml.Unmarshal([]byte(text), &theirs); err != nil || !value.Equal(plainNumbers(theirs), v) {
			rt.Fatalf("%s\nis\n%s\nfor the library %v, %v", value.Append(nil, v), text, theirs, err)
		}
	})
}

// plainNumbers makes the numbers of the library float64.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}

// The checker knows what both give, constants are folded, and conditions call them, too.
func TestYAMLInPrograms(t *testing.T) {
	env, s := sameEnv(t)
	if e := mustValue(t, `yamldecode(var.s).a[1]`, env); !e.Type.IsAny() {
		t.Error(e.Type)
	}
	if e := mustValue(t, `yamlencode(var.m)`, env); e.Type.String() != "string" {
		t.Error(e.Type)
	}
	ev := NewEvaluator(ir.NewestRules())
	if v, err := ev.Eval(mustCondition(t, `yamldecode(yamlencode(var.rows)) == var.rows && yamlencode(var.m) == 'a' + ''`, env), s); err != nil || v != false {
		t.Error(v, err)
	}
	if v, err := ev.Eval(mustCondition(t, `yamldecode(yamlencode([var.m, var.s, var.deep])) == [var.m, var.s, var.deep]`, env), s); err != nil || v != true {
		t.Error(v, err)
	}
	for _, src := range []string{"x = yamldecode(\"a: [\")\n", "x = yamldecode(\"a: 1\\na: 2\")\n"} {
		if _, diags := Value(attribute(t, src), []byte(src), env); !diags.HasErrors() {
			t.Errorf("%s is accepted", src)
		}
	}
	if v, err := ev.Eval(mustValue(t, `try(yamldecode(var.s == "" ? "" : "[") , "none")`, env), s); err != nil || v != "none" {
		t.Error(v, err)
	}
}
