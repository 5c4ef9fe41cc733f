package expr

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Functions of Terraform that cty does not have, by the examples of Terraform's documentation, and what each refuses.
func TestFunctionsOfTerraform(t *testing.T) {
	env, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	for text, want := range map[string]value.Value{
		`matchkeys(["i-123", "i-abc", "i-def"], ["us-west", "us-east", "us-east"], ["us-east"])`: []any{"i-abc", "i-def"},
		`matchkeys(["a"], ["x"], [])`:                       []any{},
		`transpose({ "a" = ["1", "2"], "b" = ["2", "3"] })`: map[string]any{"1": []any{"a"}, "2": []any{"a", "b"}, "3": []any{"b"}},
		`transpose({})`:                                            map[string]any{},
		`urlencode("Hello World!")`:                                "Hello+World%21",
		`urlencode("☃")`:                                           "%E2%98%83",
		`urlencode("foo:bar@localhost?foo=bar&bar=baz")`:           "foo%3Abar%40localhost%3Ffoo%3Dbar%26bar%3Dbaz",
		`basename("foo/bar/baz.txt")`:                              "baz.txt",
		`dirname("foo/bar/baz.txt")`:                               "foo/bar",
		`dirname("baz.txt")`:                                       ".",
		`base64sha256("hello world")`:                              "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=",
		`setproduct(["development", "staging"], ["app1", "app2"])`: []any{[]any{"development", "app1"}, []any{"development", "app2"}, []any{"staging", "app1"}, []any{"staging", "app2"}},
	} {
		if got, err := ev.Eval(mustValue(t, text, env), s); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		`matchkeys(["a"], ["x", "y"], ["x"])`: "2 keys for 1 values", `transpose({ a = [["x"]] })`: "a string is needed", `formatlist("%s%s", ["a"], ["b", "c"])`: "has 1 members", `formatlist("%d", ["x"])`: "%d",
		`csvdecode("")`: "first line", `csvdecode("a,a\n1,2")`: "two columns", `csvdecode("a,b\n1")`: "wrong number of fields", `timeadd("2030-01-31", "1h")`: "RFC3339", `timeadd("2030-01-31T09:00:00Z", "1 day")`: "duration",
		`formatdate("JJJJ", "2030-01-31T09:00:00Z")`: "format", `formatdate("` + strings.Repeat("Y", 1001) + `", "2030-01-31T09:00:00Z")`: "1001 bytes",
	} {
		if _, err := ev.Eval(&ir.Expr{Kind: ir.HCL, Text: text}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A matrix of three lists is typed: the members of its tuples keep their types.
func TestSetProductIsTyped(t *testing.T) {
	env, _ := sameEnv(t)
	e := mustValue(t, `setproduct(["linux", "darwin"], [1, 2])`, env)
	if e.Type.String() != "list(tuple([string, number]))" {
		t.Error(e.Type)
	}
	if _, list := Value(attribute(t, "x = setproduct([\"a\"], [1])[0][1] && true\n"), []byte("x = setproduct([\"a\"], [1])[0][1] && true\n"), env); !list.HasErrors() {
		t.Error("a number is taken as a bool")
	}
}

// What they make is bounded before it is made.
func TestProductsAreBounded(t *testing.T) {
	limit := costs(t)
	at := cpu()
	many := strings.Repeat("range(2), ", 40)
	for text, fits := range map[string]bool{
		"length(setproduct(range(400), range(500)))": true, "length(setproduct(range(448), range(448)))": false, "length(setproduct(" + strings.TrimSuffix(many, ", ") + "))": false,
		"length(setproduct(range(200000), range(200000), range(0)))": true, "length(setproduct(range(200000), range(200000), range(200000), range(200000)))": false,
		`length(formatlist("%s", range(200000)))`: true, `length(formatlist("%1000d%1000d", range(200000), range(200000)))`: false, `length(formatlist("` + strings.Repeat("x", 1000) + `%s", range(200000)))`: false,
		`length(csvdecode(join("\n", range(100000))))`: true, `length(csvdecode(join("", [for i in range(1000) : "a,b,c,d\n"])))`: true, `length(csvdecode("a\n${repeat("x\n", 300000)}"))`: false,
		`length(urlencode(repeat("é", 170000)))`: true, `length(urlencode(repeat("é", 500000)))`: false, `length(transpose({ a = range(200000), b = range(200000) }))`: true,
		fmt.Sprintf("length(matchkeys(range(%d), range(%d), range(%d)))", 100000, 100000, 100000): true,
	} {
		err := stored(ir.HCL, text)
		if (err == nil) != fits || err != nil && !isLimit(err) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
	if took := cpu() - at; took > 2*limit {
		t.Errorf("%v of processor time", took)
	}
}
