package flowtest_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/flowrun/flowrun/dsl"
	"github.com/flowrun/flowrun/runner/flowtest"
)

// twoLoops are two loops that share a list, an agent, a quota and what is handed in.
const twoLoops = `
agent "sam" {
  type    = "exec"
  command = ["coder"]
}
agent "leo" {
  type    = "exec"
  command = ["coder"]
}
agent "mia" {
  type    = "exec"
  command = ["coder"]
}
pool "team" { members = [agent.sam, agent.leo, agent.mia] }
quota "desk" { capacity = 1 }
loop "day" {
  agents = [agent.sam, agent.leo]
  source "dispatch" {}
  source "backlog" {
    from = "file"
    path = "TODO.md"
  }
  handle {
    workflow = workflow.do
    with     = { id = item.id, worker = worker }
  }
}
loop "night" {
  agents = [agent.mia, agent.sam]
  source "backlog" {
    from = "file"
    path = "TODO.md"
  }
  source "roadmap" { path = "ROADMAP.md" }
  handle {
    workflow = workflow.do
    with     = { id = item.id, worker = worker }
  }
}
workflow "do" {
  input "id" { type = string }
  input "worker" { type = string }
  step "work" {
    agent = pool.team[input.worker]
    task  = input.id
    quota = quota.desk
  }
}
`

// Several loops run in one test: no item is done twice, an agent works in both, a quota holds over both, and what one loop says it has
// done the other one knows. Drivers die at any point.
func TestSeveralLoops(t *testing.T) {
	takes := map[string]string{"shared": "1m", "one text": "10m", "a death of one": "10m"}
	const stubs = `
  agent "sam" { replies = [{ output = "ok", takes = "DUR" }] }
  agent "leo" { replies = [{ output = "ok", takes = "DUR" }] }
  agent "mia" { replies = [{ output = "ok", takes = "DUR" }] }
`
	for name, body := range map[string]string{
		"shared": `
  loops   = [loop.day, loop.night]
  run_for = "9m"
  items = {
    backlog = [{ id = "a" }, { id = "b" }, { id = "c", needs = ["b"] }, { id = "d" }]
    roadmap = [{ id = "plan" }]
  }
  dispatch "urgent" { after = "5m" }
  crash_everywhere = true
  expect = [
    "loops.day.closed + loops.night.closed == 6 && len(calls.work) == 6",
    "loops.day.taken >= 1 && loops.night.taken >= 1 && loops.day.status == 'idle' && loops.night.status == 'idle'",
    "none(loops.day.done, # in loops.night.done)",
    "'urgent' in loops.day.done && 'plan' in loops.night.done",
    "max_in_use.desk == 1 && agents.sam.done + agents.leo.done + agents.mia.done == 6",
    "loops.night.asked.roadmap > 0 && loops.day.asked.roadmap == null",
    "none(claims, .state == 'dead') && len(runs) == 6",
  ]`,
		"one text": `
  loops   = [loop.day, loop.night]
  run_for = "2h"
  items   = { backlog = "- [ ] One\n- [ ] Two\n- [ ] Three\n" }
  at "90s" { expect = ["loops.day.working[0] in map(loops.day.items, .id) && loops.day.items[0].agent == 'sam' && len(loops.day.parked) == 1 && len(loops.night.parked) == 1", "agents.leo.parked == 1 && agents.mia.parked == 1 && agents.sam.busy == 1"] }
  expect = [
    "loops.day.texts == loops.night.texts && loops.day.texts.backlog contains '[x] One' && not (loops.day.texts.backlog contains '[ ]')",
    "len(calls.work) == 3",
  ]`,
		"a death of one": `
  loops   = [loop.day, loop.night]
  run_for = "3h"
  items   = [{ id = "a", after = "30m" }, { id = "b", after = "30m" }]
  cancel {
    of    = "day"
    after = "10m"
  }
  at "20m" { expect = ["loops.day.status == 'cancelled' && loops.night.status == 'idle'"] }
  expect = ["loops.day.taken == 0 && loops.night.done == ['a', 'b'] || loops.night.done == ['b', 'a']"]`,
	} {
		t.Run(name, func(t *testing.T) {
			p, loaded := load(t, twoLoops, test(body+strings.ReplaceAll(stubs, "DUR", takes[name])))
			r := flowtest.Run(context.Background(), p, &loaded.Tests[0])
			if !r.Passed() || strings.Contains(body, "crash_everywhere") && r.Crashes < 100 {
				t.Errorf("%d crashes: %+v", r.Crashes, r.Failures)
			}
		})
	}
}

// A test of several loops says how long it takes, names at least two, and reads each by its name.
func TestSeveralLoopsRefused(t *testing.T) {
	for body, want := range map[string]string{
		"loops = [loop.day, loop.night]\nexpect = [\"elapsed > 0\"]":                                         "loops without run_for",
		"loops = [loop.day]\nrun_for = \"1h\"\nexpect = [\"elapsed > 0\"]":                                   "loops does not name two loops",
		"loop = loop.day\nloops = [loop.day, loop.night]\nrun_for = \"1h\"\nexpect = [\"elapsed > 0\"]":      "loop beside loops",
		"loops = [loop.day, loop.nihgt]\nrun_for = \"1h\"\nexpect = [\"elapsed > 0\"]":                       "The program has no loop \"nihgt\"",
		"loops = [loop.day, loop.night]\nrun_for = \"1h\"\nexpect = [\"loop.taken == 0\"]":                   "Read one as  loops.NAME.",
		"loop = loop.day\nrun_for = \"1h\"\nexpect = [\"loops.day.taken == 0\"]":                             "The test runs one loop. Read it as  loop.",
		"loops = [loop.day, loop.night]\nrun_for = \"1h\"\nexpect = [\"elapsed > 0\"]\ncancel {}":            "does not name its run",
		"loops = [loop.day, loop.night]\nrun_for = \"1h\"\nexpect = [\"elapsed > 0\"]\ncrash { of = \"x\" }": "The test has no run \"x\"",
		"expect = [\"elapsed > 0\"]\nitems = []":                                                             "or several:  loops = [loop.A, loop.B]",
	} {
		fsys := fstest.MapFS{"w.flow.hcl": {Data: []byte(twoLoops)}, "w.flowtest.hcl": {Data: []byte(test(body))}}
		_, list := dsl.LoadTests(fsys, "w.flowtest.hcl", dsl.Options{})
		all := ""
		for _, d := range list {
			all += d.Summary + ". " + d.Detail + "\n"
		}
		if !strings.Contains(all, want) {
			t.Errorf("%s:\n%s", body, all)
		}
	}
}
