package expr

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// Every rule of a count, by what vote gives: decision, share, tied, tally, abstained, cast.
func TestVote(t *testing.T) {
	env, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	for _, c := range []struct{ about, votes, rule, want string }{
		{"more than half of the votes cast", `{ a = "x", b = "y", c = "x" }`, `{}`, `["x",0.6667,false,{"x":2,"y":1},[],3]`},
		{"half is not more than half", `{ a = "x", b = "y" }`, `{ method = "majority" }`, `[null,0.5,true,{"x":1,"y":1},[],2]`},
		{"the most votes need not be a majority", `{ a = "x", b = "x", c = "y", d = "z" }`, `{}`, `[null,0.5,false,{"x":2,"y":1,"z":1},[],4]`},
		{"a threshold is reached by as much", `{ a = "x", b = "x", c = "y", d = "x" }`, `{ threshold = 0.75 }`, `["x",0.75,false,{"x":3,"y":1},[],4]`},
		{"a threshold below a half decides no tie", `{ a = "x", b = "y" }`, `{ threshold = 0.4 }`, `[null,0.5,true,{"x":1,"y":1},[],2]`},
		{"null abstains: the share is of the votes cast", `{ a = "x", b = null, c = "x" }`, `{}`, `["x",1,false,{"x":2},["b"],2]`},
		{"the quorum is more than half of the participants", `{ a = "x", b = null }`, `{}`, `[null,1,false,{"x":1},["b"],1]`},
		{"a quorum that is given", `{ a = "x", b = null }`, `{ quorum = 1 }`, `["x",1,false,{"x":1},["b"],1]`},
		{"nobody voted", `{ a = null }`, `{ quorum = 0 }`, `[null,0,false,{},["a"],0]`},
		{"no participants", `{}`, `{}`, `[null,0,false,{},[],0]`},
		{"unanimous", `{ a = 1, b = 1 }`, `{ method = "unanimous" }`, `[1,1,false,{"1":2},[],2]`},
		{"unanimous, of the votes cast", `{ a = 1, b = 1, c = null }`, `{ method = "unanimous" }`, `[1,1,false,{"1":2},["c"],2]`},
		{"not unanimous", `{ a = 1, b = 1, c = 2 }`, `{ method = "unanimous" }`, `[null,0.6667,false,{"1":2,"2":1},[],3]`},
		{"bools: whether true is decided", `{ a = true, b = true, c = false }`, `{}`, `[true,0.6667,false,{"false":1,"true":2},[],3]`},
		{"bools: true is not decided", `{ a = false, b = true, c = false }`, `{}`, `[false,0.3333,false,{"false":2,"true":1},[],3]`},
		{"bools: a tie is no", `{ a = false, b = true }`, `{}`, `[false,0.5,true,{"false":1,"true":1},[],2]`},
		{"bools: nobody says true", `{ a = false, b = false }`, `{}`, `[false,0,false,{"false":2},[],2]`},
		{"bools: undecided without the quorum", `{ a = true, b = null, c = null }`, `{}`, `[null,1,false,{"true":1},["b","c"],1]`},
		{"weighted, of all weight", `{ a = "x", b = "y", c = null }`, `{ method = "weighted", weights = { a = 0.5, b = 0.3, c = 0.2 }, threshold = 0.6 }`, `[null,0.5,false,{"x":0.5,"y":0.3},["c"],2]`},
		{"weighted, sums of fractions", `{ a = "x", b = "x", c = "y" }`, `{ method = "weighted", weights = { a = 0.1, b = 0.2, c = 0.7 }, threshold = 0.7 }`, `["y",0.7,false,{"x":0.3,"y":0.7},[],3]`},
		{"weighted, bools", `{ a = true, b = false }`, `{ method = "weighted", weights = { a = 0.7, b = 0.3 } }`, `[true,0.7,false,{"false":0.3,"true":0.7},[],2]`},
		{"score: the highest sum", `{ a = { x = 1, y = 3 }, b = { x = 1, y = 1 } }`, `{ method = "score" }`, `["y",0.6667,false,{"x":2,"y":4},[],2]`},
		{"score: alone", `{ a = { x = 1, y = 3 }, b = { x = 3, y = 1 } }`, `{ method = "score" }`, `[null,0.5,true,{"x":4,"y":4},[],2]`},
		{"score, weighted", `{ a = { x = 1, y = 3 }, b = { x = 3, y = 1 } }`, `{ method = "score", weights = { a = 1, b = 2 } }`, `["x",0.5833,false,{"x":7,"y":5},[],2]`},
		{"votes of several types", `{ a = true, b = "x", c = "x" }`, `{}`, `["x",0.6667,false,{"true":1,"x":2},[],3]`},
	} {
		text := `[for v in [vote(` + c.votes + `, ` + c.rule + `)] : [v.decision, round(v.share * 10000) / 10000, v.tied, { for k, n in v.tally : k => round(n * 10000) / 10000 }, v.abstained, v.cast]][0]`
		got, err := ev.Eval(mustValue(t, text, env), s)
		if out, _ := json.Marshal(got); err != nil || string(out) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.about, out, err, c.want)
		}
	}
}

// Shares and tallies are those of the decimal numbers in the file; runs of behaviour number 1 keep what their journals have.
func TestVotesAddDecimalNumbers(t *testing.T) {
	env, _ := sameEnv(t)
	for _, c := range []struct{ votes, rule, want, before string }{
		{`{ a = "x", b = "x", c = "y" }`, `{ method = "weighted", weights = { a = 0.4, b = 0.2, c = 0.4 }, threshold = 0.6 }`, `["x",0.6,{"x":0.6,"y":0.4}]`, `["x",0.6000000000000001,{"x":0.6000000000000001,"y":0.4}]`},
		{`{ a = "x", b = "x", c = "y" }`, `{ method = "weighted", weights = { a = 0.1, b = 0.7, c = 0.2 }, threshold = 0.8 }`, `["x",0.8,{"x":0.8,"y":0.2}]`, `["x",0.7999999999999999,{"x":0.7999999999999999,"y":0.2}]`},
		{`{ a = { x = 3, y = 1 }, b = { x = 3, y = 1 } }`, `{ method = "score", weights = { a = 0.1, b = 0.1 } }`, `["x",0.75,{"x":0.6,"y":0.2}]`, `["x",0.7500000000000001,{"x":0.6000000000000001,"y":0.2}]`},
		{`{ a = "x", b = "x", c = "y" }`, `{}`, `["x",0.6666666666666666,{"x":2,"y":1}]`, `["x",0.6666666666666666,{"x":2,"y":1}]`},
	} {
		for behaviour, want := range map[int]string{1: c.before, ir.Behaviour: c.want} { // a constant is evaluated before a run, by the newest rules
			r := &run{rules: ir.RulesOf(behaviour)}
			got, err := functions["vote"].call(r, []value.Value{constantOf(t, c.votes, env), constantOf(t, c.rule, env)})
			if err != nil {
				t.Fatal(err)
			}
			v := got.(map[string]any)
			if out, _ := json.Marshal([]any{v["decision"], v["share"], v["tally"]}); string(out) != want {
				t.Errorf("%s, behaviour %d: %s; want %s", c.rule, behaviour, out, want)
			}
		}
		if e := mustValue(t, `vote(`+c.votes+`, `+c.rule+`)`, env); e.Kind != ir.Const || !strings.Contains(c.want, textOf(e.Const.(map[string]any)["share"])) {
			t.Errorf("%s: %v", c.rule, e.Const)
		}
	}
}

// constantOf is the value of a constant.
func constantOf(t *testing.T, text string, env *Env) value.Value {
	t.Helper()
	e := mustValue(t, text, env)
	if e.Kind != ir.Const {
		t.Fatalf("%s is not a constant", text)
	}
	return e.Const
}

// A rule that cannot be used fails where it is computed, with what is wrong.
func TestVoteRefuses(t *testing.T) {
	_, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	for text, want := range map[string]string{
		`vote({ a = 1 }, { metod = "majority" })`:                                `a member "metod"`,
		`vote({ a = 1 }, { method = "most" })`:                                   `one of majority, unanimous, weighted, score`,
		`vote({ a = 1 }, { threshold = 0 })`:                                     `above 0 and at most 1`,
		`vote({ a = 1 }, { threshold = 1.1 })`:                                   `above 0 and at most 1`,
		`vote({ a = 1 }, { quorum = 0.5 })`:                                      `whole number`,
		`vote({ a = 1 }, { method = "weighted" })`:                               `needs weights`,
		`vote({ a = 1 }, { weights = { a = 1 } })`:                               `has no weights`,
		`vote({ a = 1, b = 1 }, { method = "weighted", weights = { a = 1 } })`:   `do not name the participant "b"`,
		`vote({ a = 1 }, { method = "weighted", weights = { a = 1, z = 0 } })`:   `"z", which is not a participant`,
		`vote({ a = 1 }, { method = "weighted", weights = { a = 0.9 } })`:        `sum to 0.9`,
		`vote({ a = 1, b = 1 }, { method = "score", weights = { a = -1 } })`:     `do not name the participant "b"`,
		`vote({ a = { x = 1 } }, { method = "score", weights = { a = 0 - 1 } })`: `below 0`,
		`vote({ a = [1] }, {})`:                                                  `a list of 1`,
		`vote({ a = { x = 1 } }, {})`:                                            `an object`,
		`vote({ a = 1 }, { method = "score" })`:                                  `needs an object of numbers`,
		`vote({ a = { x = "y" } }, { method = "score" })`:                        `a number is needed`,
	} {
		if v, err := ev.Eval(&ir.Expr{Kind: ir.HCL, Text: text}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", text, v, err, want)
		}
	}
}

// argmax passes over nulls and takes the first of equals; of nothing it is null.
func TestArgmax(t *testing.T) {
	env, s := sameEnv(t)
	ev := NewEvaluator(ir.NewestRules())
	for text, want := range map[string]any{
		`argmax({ a = 1, b = 3, c = 2 })`: "b", `argmax({ b = 3, a = 3 })`: "a", `argmax({ a = null, b = -1 })`: "b", `argmax({})`: nil, `argmax({ a = null })`: nil, `argmax(var.m)`: "b",
	} {
		if got, err := ev.Eval(mustValue(t, text, env), s); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	if _, err := ev.Eval(&ir.Expr{Kind: ir.HCL, Text: `argmax({ a = "x" })`}, s); err == nil || !strings.Contains(err.Error(), `member "a"`) {
		t.Errorf("a text as a number: %v", err)
	}
}

// The decision has the type of the votes, and may be null.
func TestVoteIsTyped(t *testing.T) {
	env, _ := sameEnv(t)
	for text, want := range map[string]string{
		`vote({ a = "x" }, {}).decision`: "string or null", `vote({ a = true, b = null }, {}).decision`: "bool or null", `vote({ a = { x = 1 } }, { method = "score" }).decision`: "string or null",
		`vote(var.m, {}).tally`: "map(number)", `vote(var.m, {}).abstained`: "list(string)", `vote(var.m, {}).tied`: "bool", `vote(var.m, {}).cast`: "number", `argmax(var.m)`: "string or null",
	} {
		e := mustValue(t, text, env)
		if got := nullness(e.Type.String(), e.Type.Nullable && !e.Type.IsAny()); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// A rule that is written out is judged when the file is read, also where the votes are known in the run alone.
func TestVoteRuleIsCheckedWhenRead(t *testing.T) {
	env := testEnv()
	for text, want := range map[string]string{
		`vote({ a = input.kind }, { threshold = 1.5 })`:                                                     "The threshold is 1.5",
		`vote({ a = input.kind }, { threshold = 0 })`:                                                       "The threshold is 0",
		`vote({ a = input.kind }, { threshold = -0.5 })`:                                                    "The threshold is -0.5",
		`vote({ a = input.kind }, { quorum = -1 })`:                                                         "The quorum is -1",
		`vote({ a = input.kind }, { quorum = 0.5 })`:                                                        "The quorum is 0.5",
		`vote({ a = input.kind, b = "x" }, { quorum = 3 })`:                                                 "The quorum is 3, but only 2 can vote",
		`vote(var.map, { quorum = -1 })`:                                                                    "The quorum is -1",
		`vote({ a = input.kind }, { method = "weighted", weights = null })`:                                 "needs weights",
		`vote({ a = input.kind, b = "x" }, { method = "weighted", weights = { a = 1.5, b = -0.5 } })`:       `The weight of "b" is below 0`,
		`vote({ a = input.kind, b = "x" }, { method = "weighted", weights = { a = input.n } })`:             `do not name the participant "b"`,
		`vote({ a = input.kind }, { method = "weighted", weights = { a = input.n, b = 1 } })`:               `name "b", which is not a participant`,
		`vote({ a = input.kind, b = "x" }, { method = "weighted", weights = { a = 1, b = null } })`:         "needs a map(number)",
		`vote(var.map, { method = "weighted", weights = { a = 0.5 } })`:                                     "sum to 0.5",
		`vote({ a = input.kind, b = "x" }, { method = "weighted", weights = { a = 0.5, b = 0.5, c = 0 } })`: `name "c"`,
	} {
		_, list := Value(attribute(t, "x = "+text+"\n"), []byte("x = "+text+"\n"), env)
		if !list.HasErrors() || !strings.Contains(picture("x = "+text+"\n", list), want) {
			t.Errorf("%s: %s; want %q", text, picture("x = "+text+"\n", list), want)
		}
	}
	for _, text := range []string{
		`vote({ a = input.kind }, { weights = null, method = null, quorum = 1, threshold = 1 })`,
		`vote({ a = input.kind, b = "x" }, { method = "weighted", weights = { a = input.n, b = 0.5 }, quorum = 2 })`,
		`vote(var.map, { quorum = 7 })`,
	} {
		mustValue(t, text, env)
	}
}

// Weights cost about what votes cost: the bounds hold for both, and time grows with their sum. As many participants as a list
// can have are compared with their weights; each with each, that took minutes.
func TestManyWeights(t *testing.T) {
	const n = 100_000
	votes, weights := map[string]any{}, map[string]any{}
	for i := range n {
		k := "p" + strconv.Itoa(i)
		votes[k], weights[k] = "x", 1.0/n
	}
	r := &run{rules: ir.NewestRules()}
	v, err := functions["vote"].call(r, []value.Value{votes, map[string]any{"method": "weighted", "weights": weights}})
	if err != nil || v.(map[string]any)["decision"] != "x" {
		t.Fatal(v, err)
	}
	if r.steps < 3*n {
		t.Errorf("%d votes with as many weights took %d steps; the weights are not among them", n, r.steps)
	}
	for i := range MaxRange {
		weights["q"+strconv.Itoa(i)] = 0.0
	}
	if _, err := functions["vote"].call(&run{rules: ir.NewestRules()}, []value.Value{votes, map[string]any{"method": "weighted", "weights": weights}}); !isLimit(err) {
		t.Errorf("%d weights: %v", len(weights), err)
	}
}
