package secret_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dsl/expr"
	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
	"github.com/flowrun/flowrun/runner/executor"
	"github.com/flowrun/flowrun/runner/executor/mask"
	"github.com/flowrun/flowrun/runner/executor/secret"
	"github.com/flowrun/flowrun/runner/request"
)

const token = "ghp_hunter22/hunter22"

// words evaluates texts in which a name stands for its value; "fail NAME" quotes the start of it in an error.
type words struct{}

func (words) Eval(e *ir.Expr, s ir.Scope) (value.Value, error) {
	text := e.Text
	for _, r := range e.Reads {
		v, err := s.Lookup(r)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(text, "fail ") {
			return nil, fmt.Errorf("%.8q is not a number", v)
		}
		if text == r.String() {
			return v, nil
		}
		text = strings.ReplaceAll(text, r.String(), fmt.Sprint(v))
	}
	return text, nil
}

func (words) Conforms(_, _ value.Value) error { return nil }

func (words) Readings(*ir.Expr, ir.Scope) string { return "" }

func late(place, text string, reads ...ir.Ref) event.Late {
	return event.Late{Place: place, What: place, Expr: ir.Expr{Kind: ir.HCL, Text: text, Reads: reads, Sensitive: true}}
}

var (
	theToken = ir.Ref{Root: "var", Name: "token"}
	thePin   = ir.Ref{Root: "var", Name: "pin"}
)

// hold makes an Executor before one that echoes.
func hold(next executor.Executor, environ ...string) *secret.Executor {
	x := secret.New(next, environ)
	x.Hold(map[string]value.Value{"var.token": token, "var.pin": 4711.0, "var.db": map[string]any{"password": "sesame66"},
		"var.argv": []any{"curl", token}, "var.headers": map[string]any{"Authorization": "Bearer " + token}}, words{})
	return x
}

// Every part of an attempt can be left to the host. It comes out as the machine would have made it.
func TestParts(t *testing.T) {
	var got event.Attempt
	x := hold(executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		got = a
		return executor.Answer(a)
	}))
	ref := func(name string) ir.Ref { return ir.Ref{Root: "var", Name: name} }
	with := late(request.With, "var.db", ref("db"))
	env := late(request.Env+"AUTH", "local.auth of each.key", ir.Ref{Root: "local", Name: "auth"}, ir.Ref{Root: "each", Name: "key"})
	env.Names, env.Locals = map[string]value.Value{"each.key": "k"}, map[string]ir.Expr{"auth": {Text: "Bearer var.token", Reads: []ir.Ref{theToken}}}
	stdin := late(request.Stdin, "input.a", ir.Ref{Root: "input", Name: "a"})
	inner := late("", "<input.b>", ir.Ref{Root: "input", Name: "b"})
	inner.Inputs = map[string]event.Late{"b": late("", "var.pin", thePin)}
	stdin.Inputs = map[string]event.Late{"a": inner}
	a := event.Attempt{Ticket: 7, Env: map[string]string{"A": "1"}, Values: []string{"x", ""}, Agent: &event.AgentRequest{Name: "g", Servers: []event.ToolServer{{Name: "s", Env: map[string]string{"B": "2"}}}},
		HTTP: &event.HTTPRequest{Method: "POST"}, Late: []event.Late{
			env, late(request.Argv, "var.argv", ref("argv")), late(request.Value+"1", "var.pin", thePin), stdin,
			late(request.Task, "use var.token", theToken), with,
			late(request.URL, "http://h/var.token?x=1", theToken), late(request.Query, "var.db", ref("db")),
			late(request.Headers, "var.headers", ref("headers")), late(request.Body, "var.db", ref("db")),
			late(request.Server+"0.command", "var.argv", ref("argv")), late(request.Server+"0.env.TOKEN", "use var.token", theToken),
			late(request.Server+"0.url", "http://h/var.token?x=1", theToken), late(request.Server+"0.headers", "var.headers", ref("headers")),
		}}
	before := fmt.Sprintf("%+v %+v %+v %+v %d", a, *a.Agent, a.Agent.Servers, *a.HTTP, len(a.Late))
	if ans := x.Execute(context.Background(), a); ans.Error != nil || ans.Ticket != 7 {
		t.Fatalf("%+v", ans.Error)
	}
	if after := fmt.Sprintf("%+v %+v %+v %+v %d", a, *a.Agent, a.Agent.Servers, *a.HTTP, len(a.Late)); after != before {
		t.Errorf("the machine's attempt was changed:\n%s\n%s", before, after)
	}
	in := "<4711>"
	want := event.Attempt{Ticket: 7, Env: map[string]string{"A": "1", "AUTH": "Bearer " + token + " of k"}, Argv: []string{"curl", token}, Values: []string{"x", "4711"},
		Stdin: &in, Agent: &event.AgentRequest{Name: "g", Task: "use " + token, With: map[string]any{"password": "sesame66"},
			Servers: []event.ToolServer{{Name: "s", Argv: []string{"curl", token}, Env: map[string]string{"B": "2", "TOKEN": "use " + token},
				URL: "http://h/" + token + "?x=1", Headers: map[string]string{"Authorization": "Bearer " + token}}}},
		HTTP: &event.HTTPRequest{Method: "POST", URL: "http://h/" + token + "?password=sesame66&x=1", Body: `{"password":"sesame66"}`,
			Headers: map[string]string{"Authorization": "Bearer " + token, "content-type": "application/json"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What comes back holds no secret, in whatever field and spelling.
func TestEcho(t *testing.T) {
	code := base64.StdEncoding.EncodeToString([]byte(token))
	x := hold(executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		ans := executor.Answer(a)
		ans.Outcome, ans.Stdout, ans.Stderr = event.OK, "it is "+token, code
		ans.Output = map[string]any{token: []any{"x" + code, 4711.0}}
		ans.Error = &event.Error{Message: "no entry for " + token}
		if executor.Mask(ctx).Text(token) != mask.Mark {
			t.Error("streams are not masked")
		}
		return ans
	}))
	got := fmt.Sprintf("%+v", x.Execute(context.Background(), event.Attempt{}))
	for _, leak := range []string{"hunter22", code, "4711"} {
		if strings.Contains(got, leak) {
			t.Errorf("%s stands in %s", leak, got)
		}
	}
}

// JSON that the machine is going to parse hides nothing in its escapes.
func TestEscapedJSON(t *testing.T) {
	x := hold(executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		ans := executor.Answer(a)
		ans.Outcome, ans.Stdout = event.OK, `{"a":"ghp_hun\u0074er22/hunter22","b":1}`
		return ans
	}))
	got := x.Execute(context.Background(), event.Attempt{Parse: "json"}).Stdout
	if want := `{"a":"(sensitive)","b":1}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A message about JSON that cannot be read quotes what was decoded: here, where the machine finds it, nothing of a secret is left.
func TestEscapedKeys(t *testing.T) {
	for _, text := range []string{
		`{"ghp_hun\u0074er22/hunter22":1,"ghp_hunter22\/\u0068unter22":2}`, `{"a":{"\u0067hp_hunter22/hunter22":1,"\u0067hp_hunter22/hunter22":2}}`,
	} {
		x := hold(executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
			ans := executor.Answer(a)
			ans.Outcome, ans.Stdout = event.OK, text
			return ans
		}))
		got := x.Execute(context.Background(), event.Attempt{Parse: "json"}).Stdout
		if _, err := value.Decode([]byte(got)); err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s becomes %s: %v", text, got, err)
		}
	}
}

// An expression that fails is the attempt's failure. Its message quotes values, and cuts them.
func TestFailures(t *testing.T) {
	x := hold(executor.Func(func(context.Context, event.Attempt) event.AttemptFinished {
		t.Error("an attempt is carried out that is not complete")
		return event.AttemptFinished{}
	}))
	for want, l := range map[string]event.Late{
		`task: "(sensitive)" is not a number`:                                                  late(request.Task, "fail var.token", theToken),
		"argv: a list of a program and its arguments is needed, but this is (sensitive)":       late(request.Argv, "var.token", theToken),
		`http.url: "(sensitive)" is not a URL that begins with http:// or https:// and a host`: late(request.URL, "var.token", theToken),
		"task: too short": judged("input.a", "too short", nil),
		"stdin: it is not one of the allowed values":                   judged("", "", []value.Value{"x"}),
		"with: var.gone is not known where the attempt is carried out": late(request.With, "x", ir.Ref{Root: "var", Name: "gone"}),
	} {
		ans := x.Execute(context.Background(), event.Attempt{Ticket: 3, Agent: &event.AgentRequest{}, HTTP: &event.HTTPRequest{}, Late: []event.Late{l}})
		if ans.Outcome != event.Failed || ans.Error.Reason != event.ReasonEvaluation || ans.Error.Kind != event.Blocking || ans.Error.Message != want || ans.Ticket != 3 {
			t.Errorf("%+v, %+v, want %s", ans, ans.Error, want)
		}
	}
	bare := secret.New(executor.Func(nil), nil)
	if ans := bare.Execute(context.Background(), event.Attempt{Late: []event.Late{late(request.Argv, "x")}}); !strings.Contains(ans.Error.Message, "does not have its secrets") {
		t.Error(ans.Error.Message)
	}
}

// judged is a part that reads an input with a rule that does not hold, or with other values.
func judged(rule, message string, enum []value.Value) event.Late {
	place := request.Task
	if rule == "" {
		place = request.Stdin
	}
	a := ir.Ref{Root: "input", Name: "a"}
	input := late("", "var.token", theToken)
	input.Enum = enum
	if rule != "" {
		input.Rules = []event.Late{{Expr: ir.Expr{Text: rule, Reads: []ir.Ref{a}}, Message: message}}
	}
	l := late(place, "input.a", a)
	l.Inputs = map[string]event.Late{"a": input}
	return l
}

// What pass_env gives is a secret too, if it looks like one; and only for the attempts that are given it.
func TestPassEnv(t *testing.T) {
	x := secret.New(executor.Func(func(_ context.Context, a event.Attempt) event.AttemptFinished {
		return event.AttemptFinished{Stdout: "swordfish66 true plaintext"}
	}), []string{"API_TOKEN=swordfish66", "NO_TOKEN=true", "HOME_DIR=plaintext"})
	all := []string{"API_TOKEN", "NO_TOKEN", "HOME_DIR"}
	for want, a := range map[string]event.Attempt{
		"(sensitive) true plaintext": {PassEnv: all},
		"swordfish66 true plaintext": {},
	} {
		if got := x.Execute(context.Background(), a).Stdout; got != want {
			t.Errorf("%+v: %s, want %s", a.PassEnv, got, want)
		}
	}
	if got := x.Execute(context.Background(), event.Attempt{Agent: &event.AgentRequest{PassEnv: all}}).Stdout; got != "(sensitive) true plaintext" {
		t.Error(got)
	}
	big := secret.New(executor.Func(nil), []string{"API_TOKEN=" + strings.Repeat("x", mask.MaxSecrets+1)})
	if ans := big.Execute(context.Background(), event.Attempt{PassEnv: all}); ans.Error == nil || !strings.Contains(ans.Error.Message, "can be masked") {
		t.Errorf("%+v", ans)
	}
}

func TestFlaw(t *testing.T) {
	for _, c := range []struct {
		v  value.Value
		ok bool
	}{
		{"abcd", true}, {"abc", false}, {"", true}, {nil, true}, {true, true}, {1234.0, true}, {123.0, false},
		{map[string]any{"host": "db", "password": "sesame66"}, false}, {[]any{"long enough", ""}, true},
		{strings.Repeat("x", mask.MaxSecrets), true}, {strings.Repeat("x", mask.MaxSecrets+1), false},
	} {
		flaw := secret.Flaw(c.v)
		if (flaw == "") != c.ok {
			t.Errorf("%.40v: %q", c.v, flaw)
		}
		if s, is := c.v.(string); is && len(s) > 2 && strings.Contains(flaw, s) {
			t.Errorf("%q tells the value", flaw)
		}
	}
}

// Without secrets the attempt and the answer pass as they are.
func TestNoSecrets(t *testing.T) {
	x := secret.New(executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		if executor.Mask(ctx) != nil {
			t.Error("there is a masker")
		}
		ans := executor.Answer(a)
		ans.Error = &event.Error{Message: errors.ErrUnsupported.Error()}
		return ans
	}), []string{"TERM=x"})
	if ans := x.Execute(context.Background(), event.Attempt{Ticket: 1}); ans.Error.Message != "unsupported operation" {
		t.Errorf("%+v", ans)
	}
}

// A copy of a journal tells no short secret within seconds: each guess costs as much as a start.
func TestSealIsSlow(t *testing.T) {
	const pin = "271828"
	s := secret.Seal("--var", "0011", pin)
	started := time.Now()
	if !secret.Same(s, pin) || secret.Same(s, "271829") {
		t.Error("it cannot tell values apart")
	}
	t.Logf("a guess costs %v", time.Since(started)/2)
	if s.Rounds < 100_000 {
		t.Errorf("%d rounds", s.Rounds)
	}
	if other := secret.Seal("--var", "0012", pin); other.Hash == s.Hash {
		t.Error("two runs with one secret look the same")
	}
	for _, rounds := range []int{0, -1, 1, 99_999, 1 << 40} {
		s.Rounds = rounds
		if started := time.Now(); secret.Same(s, pin) || time.Since(started) > 10*time.Second {
			t.Errorf("%d rounds, as a stranger may write them: %v", rounds, time.Since(started))
		}
	}
}

// expressions is what the file computes: the Evaluator of the language itself.
func expressions(t *testing.T, said string, names map[string]value.Value, texts ...string) string {
	t.Helper()
	next := executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		ans := executor.Answer(a)
		ans.Outcome, ans.Stdout = event.OK, said
		if masked := executor.Mask(ctx).Text(said); a.Node == "computes" && masked != said {
			ans.Stdout = masked
		}
		return ans
	})
	held := map[string]value.Value{"var.token": token, "var.blob": `{"user":"ann","password":"sesame66","list":["aaaa1","bbbb2"],"pin":47114711,` +
		`"pem":"BEGIN-9f8e7d6c\nline-of-5b4a3c\nshrt7xy\nEND-1f2e3d4c"}`}
	x := secret.New(next, nil)
	x.Hold(held, expr.NewEvaluator(ir.NewestRules()))
	a := event.Attempt{Node: "computes", Env: map[string]string{}}
	for i, text := range texts {
		l := event.Late{Place: fmt.Sprintf("%sV%d", request.Env, i), What: "env", Expr: ir.Expr{Kind: ir.HCL, Text: text, Sensitive: true,
			Reads: []ir.Ref{theToken, {Root: "var", Name: "blob"}, {Root: "each", Name: "value"}}}, Names: names}
		a.Late = append(a.Late, l)
	}
	ans := x.Execute(context.Background(), a)
	if ans.Error != nil {
		return ans.Error.Message
	}
	if other := x.Execute(context.Background(), event.Attempt{Node: "other"}); other.Stdout != ans.Stdout {
		t.Errorf("%q: another attempt is masked otherwise: %q and %q", texts, other.Stdout, ans.Stdout)
	}
	later := secret.New(next, nil)
	later.Hold(held, expr.NewEvaluator(ir.NewestRules()))
	later.HoldMade(x.Made())
	if other := later.Execute(context.Background(), event.Attempt{Node: "other"}); other.Stdout != ans.Stdout {
		t.Errorf("%q: an attempt after HoldMade is masked otherwise: %q and %q", texts, other.Stdout, ans.Stdout)
	}
	return ans.Stdout
}

// What is computed from a secret is masked, in all attempts; what only stands beside it is not.
func TestComputed(t *testing.T) {
	for _, c := range []struct{ expr, said, want string }{
		{`upper(var.token)`, "GHP_HUNTER22/HUNTER22 upper", "(sensitive) upper"},
		{`jsondecode(var.blob).password`, "sesame66 ann", "(sensitive) ann"},
		{`jsondecode(var.blob)["list"][1]`, "aaaa1 bbbb2", "aaaa1 (sensitive)"},
		{`join("-", [for e in jsondecode(var.blob).list : upper(e)])`, "AAAA1-BBBB2 BBBB2", "(sensitive)-(sensitive) (sensitive)"},
		{`jsondecode(var.blob).pin`, "47114711 4711471", "(sensitive) 4711471"},
		{`length(var.token) * 1000`, "21000", "21000"},
		{`substr(var.token, 0, 3)`, "ghp", "ghp"},
		{`"${substr(var.token, 0, 3)}.${substr(var.token, 4, 3)}"`, "ghp.hun", "(sensitive)"},
		{`"Bearer ${var.token}"`, "Bearer or bearer", "Bearer or bearer"},
		{`format("Bearer %s", var.token)`, "Bearer of news", "Bearer of news"},
		{`join("\n", ["You are careful.", "Use it well.", upper(var.token)])`, "You are careful.\nUse it well.\nGHP_HUNTER22/HUNTER22", "You are careful.\nUse it well.\n(sensitive)"},
		{`jsondecode(var.blob).pem`, "BEGIN-9f8e7d6c\nline-of-5b4a3c\nshrt7xy\nEND-1f2e3d4c END-1f2e3d4c", "(sensitive) (sensitive)"},
		{`join("\n", [each.value, upper(jsondecode(var.blob).pem)])`, "somewhere\nBEGIN-9F8E7D6C\nLINE-OF-5B4A3C", "somewhere\n(sensitive)\n(sensitive)"},
		{`join("\n", ["ok", upper(jsondecode(var.blob).pem)])`, "ok\nBEGIN-9F8E7D6C\nLINE-OF-5B4A3C\nSHRT7XY\nEND-1F2E3D4C",
			"ok\n(sensitive)"},
		{`element(concat(["production"], [var.token]), 0)`, "production", "production"},
		{`"${each.value}-${var.token}"`, "somewhere-else", "somewhere-else"},
		{`upper("${each.value}-${var.token}")`, "SOMEWHERE-GHP_HUNTER22/HUNTER22", "(sensitive)"},
		{`length(var.token) > 3 ? "production" : "test"`, "production test", "production test"},
		{`try(jsondecode(var.blob).none, jsondecode(var.blob).password)`, "sesame66", "(sensitive)"},
		{`regex("hu[a-z]+", var.token)`, "hunter", "(sensitive)"},
		{`yamldecode(var.blob).password`, "sesame66 ann", "(sensitive) ann"},
		{`yamldecode("${upper(var.token)}: 1\n${upper(var.token)}: 2")`, "", "what it reads is sensitive, and not YAML"},
		{`jsondecode(upper(var.token))`, "", "env: jsondecode(upper(var.token)): what it reads is sensitive, and not JSON"},
		{`tonumber(lower(replace(var.token, "ghp_", "")))`, "", "(sensitive)"},
	} {
		got := expressions(t, c.said, map[string]value.Value{"each.value": "somewhere"}, c.expr)
		if c.said == "" && !strings.Contains(got, c.want) || c.said != "" && got != c.want || strings.Contains(got, "hunter22/") {
			t.Errorf("%s: %q becomes %q, want %q", c.expr, c.said, got, c.want)
		}
	}
}

// A text that is too large to be masked is not handed on.
func TestComputedIsTooLarge(t *testing.T) {
	got := expressions(t, "", nil, `upper(repeat(var.token, 4000))`)
	if !strings.Contains(got, "the values computed from secrets have 8") || !strings.Contains(got, "can be masked") {
		t.Error(got)
	}
}

// However many texts are computed, each attempt masks its own; memory and time stay bounded.
func TestComputedIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("derives a key for each text, which is slow")
	}
	said := ""
	x := secret.New(executor.Func(func(ctx context.Context, a event.Attempt) event.AttemptFinished {
		ans := executor.Answer(a)
		ans.Outcome, ans.Stdout = event.OK, said
		return ans
	}), nil)
	x.Hold(map[string]value.Value{"var.token": token}, expr.NewEvaluator(ir.NewestRules()))
	for i := range 150 { // 31 bytes each: more than maxDerived, which is 4 KiB
		name := fmt.Sprintf("instance-%05d", i)
		said = strings.ToUpper(name + token[4:])
		l := late(request.Task, `upper("${each.value}${substr(var.token, 4, 90)}")`, theToken, ir.Ref{Root: "each", Name: "value"})
		l.Names = map[string]value.Value{"each.value": name}
		ans := x.Execute(context.Background(), event.Attempt{Agent: &event.AgentRequest{}, Late: []event.Late{l}})
		if ans.Error != nil || ans.Stdout != mask.Mark {
			t.Fatalf("%d: %+v, %s", i, ans.Error, ans.Stdout)
		}
	}
}
