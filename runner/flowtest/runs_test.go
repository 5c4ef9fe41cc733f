package flowtest_test

import (
	"fmt"
	"strings"
	"testing"
)

const grouped = `
workflow "deploy" {
  default = true
  input "env" {
    type    = string
    default = "prod"
  }
  input "n" {
    type    = number
    default = 0
  }
  concurrency {
    group     = "deploy-${input.env}"
    when_busy = "BUSY"
  }
  step "ship" { run = ["ship", "--", input.n] }
  step "count" {
    kv { incr = "deploys" }
    depends_on = [step.ship]
  }
  output "number" { value = step.count.output }
}
workflow "other" {
  step "alone" { run = ["alone"] }
}
`

// Runs of a test share the store and the groups of its workflows, and conditions read them by label and in order.
func TestSeveralRuns(t *testing.T) {
	ship := "step \"ship\" { replies = [{ stdout = \"ok ${request.inputs.n}\", takes = \"1m\" }] }\n"
	for _, c := range []struct{ name, busy, inside, want string }{
		{"queue", "queue", ship + `
  start "a" { inputs = { n = 1 } }
  start "b" {
    inputs = { n = 2 }
    after  = "10s"
  }
  start "c" { inputs = { env = "test" } }
  at "30s" { expect = ["runs.b.status == 'pending' && runs.b.started == null && runs.a.status == 'running' && live == 2", "max_at_once.deploy == 2"] }
  expect = ["runs.a.started == 0 && runs.a.ended == 60 && runs.b.started == 60 && runs.b.ended == 120 && runs.c.ended == 60", "elapsed == 120",
    "runs.b.outputs.number == 3 && runs.b.step.ship.output == 'ok 2' && runs.b.input.n == 2", "kv.deploys == 3",
    "len(runs) == 3 && runs[1].label == 'c' && runs[2].label == 'b' && all(runs, .status == 'succeeded' && .cause.kind == 'manual')",
    "node['a/ship'].output == 'ok 1' && before('a/count', 'b/ship') && !before('a/count', 'c/ship')", "len(calls.ship) == 3 && len(calls['b/ship']) == 1 && calls['b/ship'][0].at == 60",
    "max_at_once.ship == 2 && max_at_once['a/ship'] == 1", "path == ['a/ship', 'c/ship', 'a/count', 'b/ship', 'c/count', 'b/count']"]`, "succeeded"},
		{"skip", "skip", ship + `
  start "a" {}
  start "b" { after = "10s" }
  start "c" { after = "2m" }
  expect = ["runs.b.status == 'skipped' && runs.b.ended == 10 && runs.c.status == 'succeeded' && kv.deploys == 2 && max_at_once.deploy == 1"]`, "skipped"},
		{"cancel", "cancel_previous", ship + `
  start "a" {}
  start "b" { after = "10s" }
  expect = ["runs.a.status == 'cancelled' && runs.a.ended == 10 && runs.b.started == 10 && runs.b.status == 'succeeded' && kv.deploys == 1"]`, "cancelled"},
		{"two workflows", "queue", ship + `
  step "alone" { replies = [{ stdout = "" }] }
  start "a" {}
  start "b" { workflow = workflow.other }
  expect = ["runs.b.workflow == 'other' && runs.b.step.alone.status == 'succeeded' && runs.a.step.ship.output == 'ok 0'"]`, "succeeded"},
		{"stubs of one run", "queue", ship + `
  step "b/ship" { replies = [{ exit_code = 1 }] }
  start "a" {}
  start "b" {}
  start "c" {}
  expect = ["map(runs, .status) == ['succeeded', 'failed', 'succeeded'] && runs.b.error.exit_code == 1 && runs.b.failed == ['ship', 'count']"]`, "failed"},
		{"cancel of one that waits", "queue", ship + `
  start "a" {}
  start "b" {}
  start "c" {}
  cancel {
    of    = "b"
    after = "20s"
  }
  expect = ["runs.b.status == 'cancelled' && runs.b.ended == 20 && len(calls['b/ship']) == 0 && runs.c.ended == 120"]`, "cancelled"},
		{"starts after the end of all", "queue", ship + `
  start "a" {}
  start "b" { after = "1h" }
  at "2h" { expect = ["runs.b.ended == 3660 && elapsed == 7200"] }
  expect = ["elapsed == 3660"]`, "succeeded"},
		{"the test ends before", "queue", ship + `
  run_for = "30s"
  start "a" {}
  start "b" {}
  expect = ["runs.a.status == 'running' && runs.b.status == 'pending' && elapsed == 30"]`, "running"},
		{"cancel of a run that has not started", "queue", ship + `
  start "a" {}
  start "b" { after = "1h" }
  cancel {
    of    = "b"
    after = "1m"
  }
  expect = ["runs.b.status == 'succeeded'"]`, `succeeded; broken run "b" has not started`},
	} {
		if got := outcome(t, strings.Replace(grouped, "BUSY", c.busy, 1), test(c.inside)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Crashes of the one driver of all runs, or of the driver of one run, change no end.
func TestCrashesOfSeveralRuns(t *testing.T) {
	const ship, starts = "step \"ship\" { replies = [{ stdout = \"ok\", takes = TAKES }] }\n", "start \"a\" {}\nstart \"b\" {}\nstart \"c\" { inputs = { env = \"test\" } }\n"
	for _, c := range []struct{ name, inside string }{
		{"everywhere", `
  crash_everywhere = true
  expect = ["kv.deploys == 3"]`},
		{"all", `
  crash { after = "10s" }
  expect = ["kv.deploys == 3 && runs.b.ended == 130 && len(calls['a/ship']) == 2 && len(calls['c/ship']) == 2"]`},
		{"one that works", `
  crash {
    of    = "c"
    after = "10s"
  }
  expect = ["kv.deploys == 3 && runs.b.ended == 120 && runs.c.ended == 70 && len(calls['a/ship']) == 1 && len(calls['c/ship']) == 2"]`},
		{"one that waits", `
  crash {
    of    = "b"
    after = "10s"
  }
  expect = ["kv.deploys == 3 && runs.b.ended == 120 && len(calls.ship) == 3"]`},
		{"one is down, and the next takes its turn", `
  down {
    of    = "a"
    after = "10s"
    for   = "5s"
  }
  at "12s" { expect = ["live == 2 && calls['a/ship'][0].ended == 10"] }
  expect = ["max_at_once.ship == 2", "kv.deploys == 3 && runs.b.started == 10 && runs.b.ended == 70 && runs.a.ended == 130 && runs.c.ended == 60"]`},
		{"one stands still", `
  vanish {
    of    = "c"
    after = "10s"
    for   = "5m"
  }
  expect = ["runs.c.ended == 310 && runs.c.outputs.number > 0 && runs.a.ended == 60 && len(calls['c/ship']) == 1"]`},
		{"all are down", `
  down {
    after = "10s"
    for   = "5m"
  }
  expect = ["runs.c.ended == 370 && runs.b.ended == 430"]`},
	} {
		takes := `"1m"`
		if c.name == "everywhere" { // c has shipped before b, also if both ship again
			takes = `request.inputs.env == "test" ? "10s" : "1m"`
		}
		got := outcome(t, strings.Replace(grouped, "BUSY", "queue", 1), test(strings.Replace(ship, "TAKES", takes, 1)+starts+c.inside))
		if got != "succeeded" {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}

// A run that has ended is repeated in the same store: what succeeded is reused.
func TestRetryOfARun(t *testing.T) {
	const program = `
workflow "w" {
  step "a" { run = ["a"] }
  step "b" {
    run        = ["b"]
    depends_on = [step.a]
  }
}
`
	for _, c := range []struct{ name, inside, want string }{
		{"of the only run", `
  step "a" { replies = [{ stdout = "one" }] }
  step "b" { replies = [{ exit_code = 1 }, { stdout = "two" }] }
  retry "again" { after = "1h" }
  expect = ["run.status == 'failed' && runs.again.status == 'succeeded' && runs.again.cause.kind == 'retry' && runs.again.started == 3600",
    "runs.again.step.a.output == 'one' && len(calls.a) == 1 && len(calls.b) == 2 && len(calls['again/b']) == 1", "len(runs) == 2 && runs[0].label == null"]`, "failed"},
		{"from a step", `
  step "a" { replies = [{ stdout = "one" }, { stdout = "three" }] }
  step "b" { replies = [{ stdout = "two" }] }
  step "second/b" { replies = [{ stdout = "four" }] }
  start "first" {}
  retry "second" {
    from  = "a"
    after = "1m"
  }
  expect = ["runs.second.step.a.output == 'three' && runs.second.step.b.output == 'four' && runs.first.step.b.output == 'two'"]`, "succeeded"},
		{"with what a person did", `
  step "a" { replies = [{ exit_code = 1 }] }
  step "again/b" { replies = [{ stdout = "two" }] }
  retry "again" {
    set   = { a = "by hand" }
    by    = "ann"
    after = "1m"
  }
  retry "third" {
    of   = "again"
    from = "b"
    set  = { a = "anew" }
    after = "2m"
  }
  step "third/b" { replies = [{ stdout = "three" }] }
  crash_everywhere = true
  expect = ["runs.again.step.a.output == 'by hand' && runs.again.step.a.by == 'ann' && runs.again.step.b.by == null && runs.again.step.a.attempts == 0",
    "runs.third.step.a.output == 'anew' && runs.third.step.a.by == 'test' && runs.third.step.b.output == 'three'", "step.a.by == null && len(calls.a) == 1"]`, "failed"},
		{"of one that runs", `
  step "a" { replies = [{ stdout = "one", takes = "1h" }] }
  step "b" { replies = [{ stdout = "" }] }
  retry "again" { after = "1m" }
  expect = ["run.status == 'succeeded'"]`, "succeeded; broken run cannot be repeated: it has not ended"},
		{"of one that succeeded", `
  step "a" { replies = [{ stdout = "one" }] }
  step "b" { replies = [{ stdout = "" }] }
  retry "again" { after = "1m" }
  expect = ["run.status == 'succeeded'"]`, "succeeded; broken run cannot be repeated: it succeeded, so no step has to run again"},
		{"of a repeat", `
  step "a" { replies = [{ stdout = "one" }] }
  step "b" { replies = [{ exit_code = 1 }, { exit_code = 1 }, { stdout = "two" }] }
  start "one" {}
  retry "two" {
    of    = "one"
    after = "1m"
  }
  retry "three" {
    of    = "two"
    after = "2m"
  }
  crash_everywhere = true
  expect = ["map(runs, .status) == ['failed', 'failed', 'succeeded'] && len(calls.a) == 1 && runs.three.step.b.output == 'two'"]`, "failed"},
	} {
		if got := outcome(t, program, test(c.inside)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// crowd is a file with one test of n runs that share a key and a group.
func crowd(n int) string {
	var b strings.Builder
	b.WriteString("step \"ship\" { replies = [{ stdout = \"\", takes = \"1s\" }] }\n")
	for i := range n {
		fmt.Fprintf(&b, "start \"r%d\" { inputs = { n = %d } }\n", i, i)
	}
	fmt.Fprintf(&b, "expect = [\"kv.deploys == %d && max_at_once.deploy == 1 && elapsed == %d\", \"len(runs) == %d && all(runs, .status == 'succeeded' && .outputs.number == #index + 1)\"]", n, n, n)
	return test(b.String())
}

// 64 runs of a group take turns, and each of them counts.
func TestManyRuns(t *testing.T) {
	if got := outcome(t, strings.Replace(grouped, "BUSY", "queue", 1), crowd(64)); got != "succeeded" {
		t.Error(got)
	}
}

// A crash that changes only the attempts and the output of a node, in one run of several, is told.
func TestCrashesAreComparedInAll(t *testing.T) {
	const program = `
agent "first" {
  type    = "exec"
  command = ["first"]
}
agent "second" {
  type    = "exec"
  command = ["second"]
}
workflow "w" {
  step "all" {
    agent    = agent.first
    on_lost  = "fail"
    fallback = [agent.second]
  }
}
`
	got := outcome(t, program, test(`
  crash_everywhere = true
  agent "first" { replies = [{ output = "all", takes = "1m" }] }
  agent "second" { replies = [{ output = "less" }] }
  start "a" {}
  start "b" { after = "2m" }
  expect = ["all(runs, .status == 'succeeded')"]`))
	for _, want := range []string{`the attempts of a/all are 2, and without one 1`, `the attempts of b/all are 2, and without one 1`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}

// Called runs are runs of the store, too. Each run has its own secrets and its own inputs.
func TestRunsOfTheStore(t *testing.T) {
	const program = `
workflow "caller" {
  default = true
  input "key" {
    type      = string
    sensitive = true
  }
  step "use" {
    run = ["use"]
    env = { KEY = input.key }
  }
  step "child" {
    call       = workflow.child
    with       = { key = input.key }
    depends_on = [step.use]
  }
}
workflow "child" {
  input "key" {
    type      = string
    sensitive = true
  }
  concurrency { group = "one" }
  step "inner" {
    run = ["inner"]
    env = { KEY = input.key }
  }
}
`
	got := outcome(t, program, test(`
  step "use" { replies = [{ stdout = "" }] }
  step "child/inner" { replies = [{ stdout = "", takes = "1m" }] }
  step "b/child/inner" { replies = [{ stdout = "of b", takes = "1m" }] }
  start "a" { inputs = { key = "secret-of-a" } }
  start "b" { inputs = { key = "secret-of-b" } }
  expect = ["calls['a/use'][0].env.KEY == 'secret-of-a' && calls['b/child/inner'][0].env.KEY == 'secret-of-b'",
    "map(runs, .cause.kind) == ['manual', 'manual', 'call', 'call'] && runs[2].label == null && runs[2].workflow == 'child' && runs[3].started == 60 && elapsed == 120",
    "node['b/child/inner'].output == 'of b' && runs.a.step.child.status == 'succeeded' && max_at_once.child == 1 && count(runs, .cause.kind == 'call') == 2"]`))
	if got != "succeeded" {
		t.Error(got)
	}
}
