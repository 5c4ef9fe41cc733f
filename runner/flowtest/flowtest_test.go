package flowtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/runner/flowtest"
)

// outcome runs the tests of a file and tells in a line for each what it came to.
func outcome(t *testing.T, program, tests string) string {
	t.Helper()
	p, loaded := load(t, program, tests)
	var out []string
	for i := range loaded.Tests {
		r := flowtest.Run(context.Background(), p, &loaded.Tests[i])
		line := string(r.Status)
		for _, f := range r.Failures {
			line += fmt.Sprintf("; %s %s", f.Kind, f.Text)
			if f.Message != "" {
				line += " (" + f.Message + ")"
			}
		}
		for _, l := range r.Leftover {
			line += fmt.Sprintf("; %s %s %d/%d", l.Kind, l.Name, l.Asked, l.Replies)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// test wraps the inside of a test.
func test(inside string) string { return "test \"t\" {\n" + inside + "\n}\n" }

// What a reply says becomes what an executor would say of it.
func TestReplies(t *testing.T) {
	run := func(attrs string) string {
		return "workflow \"w\" {\n  step \"s\" {\n    run = [\"x\"]\n" + attrs + "\n  }\n}\n"
	}
	agent := func(attrs, of string) string {
		return "agent \"a\" {\n  type = \"exec\"\n  command = [\"a\"]\n" + attrs + "\n}\nworkflow \"w\" {\n  step \"s\" {\n    agent = agent.a\n" + of + "\n  }\n}\n"
	}
	http := func(attrs string) string {
		return "workflow \"w\" {\n  step \"s\" {\n    http {\n      url = \"https://example.com\"\n" + attrs + "\n    }\n  }\n}\n"
	}
	for _, c := range []struct{ program, kind, replies, expect string }{
		{run(""), "step", `{ stdout = "a\n" }`, "step.s.output == 'a' && step.s.exit_code == 0"},
		{run(""), "step", `{ output = 3 }`, "step.s.output == '3'"},
		{run("parse = \"json\""), "step", `{ output = { a = [1] } }`, "step.s.output.a[0] == 1"},
		{run("parse = \"lines\""), "step", `{ output = ["a", "b"] }`, "step.s.output == ['a', 'b']"},
		{run(""), "step", `{ exit_code = 3, stderr = "no" }`, "step.s.exit_code == 3 && step.s.error.kind == 'recoverable' && step.s.stderr == 'no'"},
		{run(""), "step", `{ exit_code = 75 }, { stdout = "b" }`, "step.s.status == 'failed' && step.s.attempts == 1"},
		{run("retry {\nmax_attempts = 2\n}"), "step", `{ exit_code = 75 }, { stdout = "b" }`, "step.s.output == 'b' && step.s.attempts == 2"},
		{run("timeout = \"1m\""), "step", `{ hang = true }`, "step.s.error.reason == 'timeout' && elapsed == 60"},
		{run(""), "step", `{ lost = true }, { stdout = "b" }`, "step.s.output == 'b' && len(calls.s) == 2 && calls.s[0].key == calls.s[1].key"},
		{run(""), "step", `{ error = { kind = "fatal", message = "m" } }`, "step.s.error.kind == 'fatal' && step.s.error.message == 'm'"},
		{run(""), "step", `{ error = request.attempt < 2 ? { kind = "fatal" } : null, stdout = "c" }`, "step.s.error.kind == 'fatal'"},
		{agent("", "task = \"do\""), "agent", `{ output = "${request.agent} ${request.task} ${request.attempt}" }`, "step.s.output == 'a do 1'"},
		{agent("", ""), "agent", `{ error = { status = 429, retry_after = 7 } }, { output = 1 }`, "step.s.output == 1 && step.s.attempts == 1 && len(calls.s) == 2 && calls.s[0].key == calls.s[1].key && elapsed == 7"},
		{agent("", ""), "agent", `{ error = { status = 429, retry_after = 7 } }`, "step.s.error.kind == 'rate_limited' && step.s.error.retry_after == 7 && len(calls.s) == 101 && elapsed == 700"},
		{agent("heartbeat = \"30s\"", ""), "agent", `{ hang = true }, { output = 1 }`, "step.s.output == 1 && elapsed == 30"},
		{http(""), "step", `{ status = 404 }`, "step.s.error.status == 404 && step.s.error.kind == 'blocking'"},
		{http("expect = [404]"), "step", `{ status = 404, output = "gone" }`, "step.s.output.status == 404 && step.s.output.body == 'gone'"},
		{http(""), "step", `{ output = { a = 1 }, takes = "5s" }`, "step.s.output.body.a == 1 && elapsed == 5"},
	} {
		name := map[string]string{"step": "s", "agent": "a"}[c.kind]
		got := outcome(t, c.program, test(fmt.Sprintf("%s %q {\n  replies = [%s]\n}\nexpect = [%q]", c.kind, name, c.replies, c.expect)))
		if failed := strings.Contains(got, "unmet") || strings.Contains(got, "bad_reply"); failed {
			t.Errorf("%s: %s", c.replies, got)
		}
	}
}

// All missing stubs, a stub that nobody asked, a reply that cannot be computed and a condition that is not reached are told apart.
func TestFailuresAreToldApart(t *testing.T) {
	const program = "workflow \"w\" {\n  step \"a\" { run = [\"x\"] }\n  step \"b\" {\n    run = [\"y\"]\n    depends_on = [step.a]\n  }\n}\n"
	for _, c := range []struct{ name, inside, want string }{
		{"missing", `expect = ["true"]`, "succeeded; no_stub a; no_stub b; not_asked true (stubs are missing)"},
		{"nobody asked", "step \"a\" { replies = [{ exit_code = 1 }] }\nstep \"b\" { replies = [{ stdout = \"\" }] }\nexpect = [\"true\"]", "failed; step b 0/1"},
		{"bad reply", "step \"a\" { replies = [{ stdout = request.with.x.y[3] + 1 }] }\nstep \"b\" { replies = [{ stdout = \"\" }] }\nexpect = [\"run.status == 'failed'\"]",
			"failed; bad_reply request.with.x.y[3]: +: a number is needed, but this is null; step b 0/1"},
		{"not reached", "step \"a\" { replies = [{ hang = true }] }\nrun_for = \"1h\"\nat \"2h\" { expect = [\"live == 1\"] }\nexpect = [\"live == 1\"]", "running; not_asked live == 1"},
		{"after the end", "step \"a\" { replies = [{ stdout = \"\" }] }\nstep \"b\" { replies = [{ stdout = \"\" }] }\nat \"2h\" { expect = [\"run.status == 'succeeded' && elapsed == 7200\"] }", "succeeded"},
		{"null", "step \"a\" { replies = [{ exit_code = 1 }] }\nexpect = [\"len(step.b.output) > 3\"]",
			"failed; unmet len(step.b.output) > 3 (step.b.output: a list, a map or a string is needed, but this is null)"},
	} {
		if got := outcome(t, program, test(c.inside)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Stubs of an instance go before those of a step, and these before those of an agent.
func TestNearestStub(t *testing.T) {
	const program = "agent \"a\" {\n  type = \"exec\"\n  command = [\"a\"]\n}\nworkflow \"w\" {\n  step \"one\" { agent = agent.a }\n  step \"two\" { agent = agent.a }\n" +
		"  step \"each\" {\n    for_each = [1, 2, 3]\n    agent = agent.a\n  }\n}\n"
	got := outcome(t, program, test(`
  agent "a" { replies = [{ output = "agent" }] }
  step "two" { replies = [{ output = "step" }] }
  step "each[1]" { replies = [{ output = "instance" }] }
  expect = ["step.one.output == 'agent' && step.two.output == 'step'", "step.each.output == ['agent', 'instance', 'agent']", "node['each[1]'].output == 'instance'",
    "len(calls.a) == 5 && len(calls['each[1]']) == 1 && max_at_once.a == 5"]`))
	if got != "succeeded" {
		t.Error(got)
	}
}

// An agent and a workflow of one name are counted apart.
func TestOneNameForAgentAndWorkflow(t *testing.T) {
	const program = "agent \"a\" {\n  type = \"exec\"\n  command = [\"a\"]\n}\nworkflow \"a\" {\n  step \"one\" { agent = agent.a }\n  step \"two\" { agent = agent.a }\n}\nworkflow \"b\" {\n  step \"three\" { value = 1 }\n}\n"
	got := outcome(t, program, test(`
  workflow = workflow.a
  agent "a" { replies = [{ takes = "1m" }] }
  expect = ["max_at_once.a == 2 && max_at_once['workflow.a'] == 1 && max_at_once['workflow.b'] == 0 && max_at_once.b == 0"]`))
	if got != "succeeded" {
		t.Error(got)
	}
}

// Called runs are part of the test, under the path of their call.
func TestCalledRuns(t *testing.T) {
	const program = "workflow \"w\" {\n  default = true\n  step \"call\" {\n    for_each = [1, 2]\n    call = workflow.c\n    with = { n = each.value }\n  }\n}\n" +
		"workflow \"c\" {\n  input \"n\" { type = number }\n  step \"s\" { run = [\"x\", input.n] }\n  output \"o\" { value = step.s.output }\n}\n"
	got := outcome(t, program, test(`
  step "call/s" { replies = [{ stdout = "n ${request.inputs.n}", takes = "1m" }] }
  expect = ["step.call.output[1].o == 'n 2'", "node['call[1]/s'].output == 'n 2'", "max_at_once.c == 2 && elapsed == 60", "'call[0]/s' in path", "before('call[0]/s', 'call[1]/s') == false"]`))
	if got != "succeeded" {
		t.Error(got)
	}
}

// A sensitive value reaches what is asked, and stands for itself where the test gives none.
func TestSensitiveValues(t *testing.T) {
	const program = "variable \"token\" {\n  type = string\n  sensitive = true\n}\nworkflow \"w\" {\n  step \"s\" {\n    run = [\"x\"]\n    env = { TOKEN = var.token }\n  }\n}\n"
	for _, vars := range []string{"", "vars = { token = \"mine-and-secret\" }"} {
		want := "secret-token"
		if vars != "" {
			want = "mine-and-secret"
		}
		if got := outcome(t, program, test(vars+"\nstep \"s\" { replies = [{ stdout = \"\" }] }\nexpect = [\"calls.s[0].env.TOKEN == '"+want+"'\"]")); got != "succeeded" {
			t.Errorf("%q: %s", vars, got)
		}
	}
}

// A run with a crash that ends otherwise is told.
func TestCrashThatMatters(t *testing.T) {
	const program = "workflow \"w\" {\n  step \"s\" {\n    run = [\"x\"]\n    on_lost = \"fail\"\n  }\n}\n"
	got := outcome(t, program, test("crash_everywhere = true\nstep \"s\" { replies = [{ stdout = \"\", takes = \"1m\" }] }\nexpect = [\"run.status == 'succeeded'\"]"))
	if !strings.Contains(got, "differs with a crash at point") || !strings.Contains(got, "run ends failed with {}, and without one succeeded with {}") {
		t.Error(got)
	}
}

// A test that does not end in its real time is told, and two runs of a test are alike.
func TestBounds(t *testing.T) {
	p, loaded := load(t, month, monthTest)
	first, second := flowtest.Run(context.Background(), p, &loaded.Tests[0]), flowtest.Run(context.Background(), p, &loaded.Tests[0])
	if a, b := fmt.Sprint(first.Timeline), fmt.Sprint(second.Timeline); a != b || first.Elapsed != 720*time.Hour {
		t.Errorf("two runs of a test differ, or take %s", first.Elapsed)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(flowtest.ErrTooLong)
	r := flowtest.Run(ctx, p, &loaded.Tests[0])
	if len(r.Failures) == 0 || r.Failures[0].Kind != flowtest.Broken || r.Failures[0].Text != flowtest.ErrTooLong.Error() {
		t.Errorf("%+v", r.Failures)
	}
	if errors.Is(flowtest.ErrTooLong, context.Canceled) {
		t.Error("the cause is the context's own")
	}
}

// Gates of groups, compensations and warnings are asked and read like those of steps.
func TestGatesOfGroupsAndCompensations(t *testing.T) {
	const program = `
gate "sound" { run = ["sound"] }
workflow "w" {
  sequence "both" {
    gates = [gate.sound]
    step "a" {
      run = ["a"]
      compensate { run = ["undo"] }
    }
    step "b" { run = ["b"] }
  }
  step "c" {
    run        = ["c"]
    depends_on = [step.both]
    gate "nice" {
      check   = "result.output == 'nice'"
      on_fail = "warn"
      message = "it is not nice"
    }
  }
  step "d" {
    run        = ["d"]
    depends_on = [step.c]
  }
}
`
	got := outcome(t, program, test(`
  step "a" { replies = [{ stdout = "a" }] }
  step "a/compensate" { replies = [{ exit_code = 0 }] }
  step "b" { replies = [{ stdout = "b" }] }
  gate "both/sound" { replies = [{ exit_code = 0 }] }
  step "c" { replies = [{ stdout = "rough" }] }
  step "d" { replies = [{ exit_code = 1 }] }
  expect = ["run.status == 'failed' && run.failed == ['d']", "len(calls['both/a/compensate']) == 1 && calls['both/a/compensate'][0].command == ['undo']",
    "len(calls.sound) == 1 && before('both/a', 'both/b') && before('both', 'd')", "len(run.warnings) == 1 && run.warnings[0] contains 'it is not nice'",
    "run.started_at == '2026-01-05T08:00:00.000Z'", "path == ['both', 'both/a', 'both/b', 'c', 'd']"]`))
	if got != "failed" {
		t.Error(got)
	}
}

// Steps with kv are real: a test says what the store holds, and reads it.
func TestStore(t *testing.T) {
	const program = "workflow \"w\" {\n  step \"count\" {\n    kv { incr = \"runs\" }\n  }\n  step \"team\" {\n    kv {\n      get = \"lead\"\n      namespace = \"team\"\n    }\n  }\n" +
		"  step \"new\" {\n    kv {\n      set = \"x/y\"\n      value = [1]\n    }\n  }\n}\n"
	got := outcome(t, program, test(`
  kv = { runs = 41, "team/lead" = "Ada" }
  crash_everywhere = true
  expect = ["kv.runs == 42 && step.count.output == 42", "step.team.output == 'Ada'", "kv['default/x/y'] == [1]", "kv['team/none'] == null"]`))
	if got != "succeeded" {
		t.Error(got)
	}
}

// A moment comes before what happens after it, also where a timer that was taken back lies between.
func TestMomentsAreOnTime(t *testing.T) {
	const program = `workflow "w" {
  sequence "all" {
    step "first" {
      kv {
        set   = "x"
        value = 1
        ttl   = "1h"
      }
    }
    step "second" {
      wait { duration = "50m" }
    }
    step "third" {
      wait { duration = "11m" }
    }
  }
}
`
	got := outcome(t, program, test(`
  at "51m" { expect = ["run.status == 'waiting' && step.third.status == 'waiting' && kv['x'] == 1"] }
  at "60m30s" { expect = ["kv['x'] == null"] }
  cancel { after = "60m40s" }
  expect = ["run.status == 'cancelled' && elapsed == 3640"]`))
	if got != "cancelled" {
		t.Error(got)
	}
}

// What nobody hears fails a test: an event that no step waited for, a check-in at a point that no step asked, and what comes when all
// runs have ended. An event that a key keeps from being published again is heard, and so is one that a match refuses.
func TestNobodyHears(t *testing.T) {
	const program = `workflow "w" {
  input "never" {
    type    = bool
    default = false
  }
  step "answer" {
    wait {
      event = "answer"
      match = "event.ok"
    }
  }
  step "never" {
    when = "input.never"
    wait { event = "never" }
  }
  step "meet" {
    depends_on = [step.answer]
    sync {
      point = "release"
      as    = "a"
      needs = ["a", "b"]
    }
  }
}
`
	const goOn = "\nemit \"answer\" {\n  data = { ok = true }\n  key = \"k\"\n  after = \"1m\"\n}\ncheck_in \"release\" {\n  as = \"b\"\n  after = \"2m\"\n}\n"
	for inside, want := range map[string]string{
		"": "",
		`emit "answer" { data = { ok = false } }`:                                        "",
		"emit \"answer\" {\n  data = { ok = true }\n  key = \"k\"\n  after = \"90s\"\n}": "",
		`emit "answers" {}`: `; unheard emit "answers" (No run waits for an event of this name. The steps name answer, never.)`,
		`emit "never" {}`:   `; unheard emit "never" (A run received the event, but never reached the step that waits for it.)`,
		"check_in \"releases\" {\n  as = \"b\"\n  after = \"1s\"\n}": `; unheard check_in "releases" (No step asked at this sync point. The steps name release.)`,
		"check_in \"release\" {\n  as = \"b\"\n  after = \"3m\"\n}":  `; unheard check_in "release" (All runs of the test had ended.)`,
		`cancel { after = "3m" }`:                                    `; unheard cancel (All runs of the test had ended.)`,
		`crash { after = "3m" }`:                                     `; unheard crash (All runs of the test had ended.)`,
	} {
		if got := outcome(t, program, test(inside+goOn+`expect = ["run.status == 'succeeded'"]`)); got != "succeeded"+want {
			t.Errorf("%s:\n%s\nwant\nsucceeded%s", inside, got, want)
		}
	}
	const other = `emit "answer" {
  data  = { ok = true }
  after = "1m"
}
start "late" {
  workflow = workflow.w
  after    = "2m"
}
crash { after = "90s" }
run_for = "3m"
expect  = ["runs.late.status == 'waiting'"]`
	if got, want := outcome(t, program, test(other)), `waiting; unheard crash (No process drove a run then.); unheard emit "answer" (No run that waits for this event was live then.)`; got != want {
		t.Errorf("have %s\nwant %s", got, want)
	}
}

// A condition reads how many units of a quota were in use at once, and how a circuit breaker stands.
func TestSharedThings(t *testing.T) {
	const program = `quota "gpu" { capacity = 4 }
quota "api" {
  circuit_breaker {
    failures = 2
    reset    = "10m"
  }
}
agent "a" {
  type    = "exec"
  command = ["a"]
  circuit_breaker { failures = 3 }
}
workflow "w" {
  step "train" {
    for_each = [1, 2, 3]
    agent    = agent.a
    quota    = { gpu = 2 }
  }
  step "ask" {
    run   = ["ask"]
    quota = quota.api
    retry {
      max_attempts = 3
      when         = "true"
      base_delay   = "1m"
      jitter       = "none"
    }
  }
}
`
	got := outcome(t, program, test(`agent "a" { replies = [{ takes = "5m" }] }
step "ask" { replies = [{ exit_code = 1 }, { exit_code = 1 }, { stdout = "" }] }
at "30s" { expect = ["breakers.api.state == 'closed' && breakers.api.failures == 1"] }
at "2m" { expect = ["breakers.api.state == 'open' && run.status == 'running'"] }
expect = ["max_in_use.gpu == 4", "breakers['api'].state == 'closed'", "breakers.a.state == 'closed' && breakers.a.failures == 0"]`))
	if got != "succeeded" {
		t.Error(got)
	}
	p, loaded := load(t, program, test(`agent "a" { replies = [{}] }
expect = ["max_in_use.gpu == 1"]`))
	if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); r.Passed() {
		t.Error("a wrong number passes")
	}
}

// A crash after the end of the run never comes, which fails the test. Without it the crashes at each point are tried, and end.
func TestCrashesBehindTheEnd(t *testing.T) {
	const program = `workflow "w" {
  step "a" {
    wait { duration = "5m" }
  }
}
`
	for i, moments := range []string{"", `crash { after = "1h" }`, "crash { after = \"1h\" }\n  crash { after = \"2h\" }", `down {
    after = "1h"
    for   = "1m"
  }`} {
		p, loaded := load(t, program, test(moments+"\n  crash_everywhere = true\n  expect = [\"run.status == 'succeeded'\"]"))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if r := flowtest.Run(ctx, p, &loaded.Tests[0]); r.Passed() != (i == 0) || (r.Crashes > 0) != (i == 0) || ctx.Err() != nil {
			t.Errorf("%q: %s after %d crashes: %v", moments, r.Status, r.Crashes, r.Failures)
		}
		cancel()
	}
}

// An attempt that the store answers takes no time, in a test with a crash as in one without.
func TestCrashesLeaveStoreActionsInTheirTime(t *testing.T) {
	const program = `
workflow "w" {
  sequence "g" {
    timeout = "1ms"
    step "a" {
      kv { incr = "n" }
    }
  }
}`
	if got := outcome(t, program, test("crash_everywhere = true\nexpect = [\"run.status == 'succeeded'\"]")); got != "succeeded" {
		t.Error(got)
	}
}
