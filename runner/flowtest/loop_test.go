package flowtest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/runner/flowtest"
)

const office = `
agent "sam" {
  type         = "exec"
  command      = ["coder"]
  capabilities = ["go"]
}
agent "leo" {
  type    = "exec"
  command = ["coder"]
}
pool "team" { members = [agent.sam, agent.leo] }
channel "ops" {
  type = "webhook"
  url  = "https://ops.example"
}
loop "l" {
  agents = [pool.team]
  notify = [channel.ops]
  source "dispatch" {}
  source "backlog" {
    from = "file"
    path = "TODO.md"
  }
  source "roadmap" { path = "ROADMAP.md" }
  source "improvement" {
    rotate = [workflow.tidy]
    every  = "24h"
    with   = { worker = worker }
  }
  handle {
    when     = "'ask' in item.labels"
    workflow = workflow.ask
    with     = { worker = worker }
  }
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
  }
}
workflow "ask" {
  input "worker" { type = string }
  step "draft" {
    agent = pool.team[input.worker]
    task  = "draft"
  }
  step "ok" {
    approve { prompt = "May it?" }
    depends_on = [step.draft]
  }
}
workflow "tidy" {
  input "worker" { type = string }
  step "sweep" {
    agent = pool.team[input.worker]
    task  = "tidy"
  }
}
`

// Items of a roadmap can become items of the backlog: of a list, and of a text.
func TestTicketsOfABacklog(t *testing.T) {
	program := strings.Replace(office, `source "roadmap" { path = "ROADMAP.md" }`, `source "roadmap" {
    path    = "ROADMAP.md"
    tickets = "backlog"
  }`, 1)
	const stubs = `
  agent "sam" { replies = [{ output = "ok", takes = "1m" }] }
  agent "leo" { replies = [{ output = "ok", takes = "1m" }] }
`
	for name, body := range map[string]string{
		"lists": `
  run_for = "3h"
  items = {
    backlog = [{ id = "a" }]
    roadmap = [{ id = "plan", title = "A plan" }, { id = "next", title = "Another", needs = ["plan"], after = "1h" }]
  }
  at "30m" { expect = ["len(filter(loop.items, .source == 'backlog' && .title == 'A plan' && .status == 'closed')) == 1 && len(tickets) == 1 && tickets[0].state == 'closed'"] }
  expect = ["none(loop.items, .source == 'roadmap')", "len(filter(loop.items, .title == 'Another')) == 1 && len(tickets) == 2"]`,
		"texts": `
  run_for = "20m"
  crash { after = "65s" }
  items = {
    backlog = "- [ ] First\n"
    roadmap = "# Plans\n\n- [ ] A\n  - [ ] B\n- [-] C\n"
  }
  expect = [
    "loop.texts.roadmap contains '[x] A' && loop.texts.roadmap contains '[x] B' && loop.texts.roadmap contains '[-] C'",
    "loop.texts.backlog matches '.x. First' && loop.texts.backlog matches '.x. B .id: rm-[0-9a-f]+.' && loop.texts.backlog matches '.x. A .id: rm-'",
    "len(filter(loop.items, .title == 'B')) == 1 && loop.texts.backlog contains '- [' && not (loop.texts.backlog contains '- [ ]')",
    "loop.closed - len(filter(loop.items, .source == 'improvement')) == 3",
  ]`,
	} {
		t.Run(name, func(t *testing.T) {
			p, loaded := load(t, program, test(body+stubs))
			if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
				t.Errorf("%+v", r.Failures)
			}
		})
	}
}

// A test can run a loop: what its sources hold, what is handed in and what others end, and how the loop and its agents stand at each moment.
func TestLoops(t *testing.T) {
	const stubs = `
  agent "sam" { replies = [{ output = "ok", takes = "1m" }] }
  agent "leo" { replies = [{ output = "ok", takes = "1m" }] }
`
	for name, body := range map[string]string{
		"the ladder, and why items are left": `
  run_for = "12h"
  items = {
    backlog = [{ id = "a" }, { id = "b", needs = ["a"] }, { id = "rust", capabilities = ["rust"] }]
    roadmap = [{ id = "plan", after = "1h", title = "A plan" }]
  }
  dispatch "bug" {
    priority = 5
    assignee = "leo"
    after    = "30m"
  }
  at "30s" {
    expect = [
      "loop.status == 'working' && loop.working[0] == 'a' && len(loop.working) == 2",
      "agents.sam.busy == 1 && agents.sam.items == ['a']",
      "any(loop.left, .id == 'b' && .why == ['it needs a, which is open'])",
      "any(loop.left, .id == 'rust' && .why[0] startsWith 'it asks for the capability \"rust\"')",
    ]
  }
  at "59m" { expect = ["loop.status == 'idle' && loop.next == [] && len(tickets) == 0"] }
  at "2h" { expect = ["len(tickets) == 1 && tickets[0].state == 'closed' && tickets[0].title == 'A plan'"] }
  expect = [
    "filter(loop.done, # in ['a', 'b', 'bug', 'plan']) == ['a', 'b', 'bug', 'plan']",
    "loop.items[0].id == 'a' && loop.items[0].source == 'backlog' && loop.items[0].agent == 'sam' && loop.items[0].workflow == 'do' && loop.items[0].ended == 60",
    "calls.leo[0].task == 'tidy' && any(calls.leo, .task == 'bug' && .at == 1800)",
    "node['item:do[plan]/work'].output == 'ok' && before('item:do[a]/work', 'item:do[b]/work')",
    "runs[1].cause.kind == 'loop' && runs[1].cause.id == 'a' && runs[0].workflow == 'tidy' && len(runs) == loop.taken",
    "loop.taken == 5 && loop.closed == 5 && loop.failed == 0 && loop.asked.backlog > 10",
    "claims[0].loop == 'l' && elapsed == 43200",
    "dispatches[0].id == 'bug' && dispatches[0].state == 'closed'",
  ]`,
		"a list in a file": `
  items = {
    backlog = "- [x] First <!-- id: one -->\n- [ ] Second (id: two) #role/go\n- [-] Dropped\n- [/] Somebody has it\n"
    roadmap = "# Plans\n\n- [ ] A\n  - [ ] B\n"
  }
  at "30s" { expect = ["loop.texts.backlog contains '[/] Second' || loop.texts.backlog contains '[x] Second'", "count(tickets, .state != 'closed') == 2"] }
  expect = [
    "map(filter(loop.items, .workflow == 'do'), .title) == ['Second', 'B', 'A'] && filter(loop.items, .title == 'Second')[0].agent == 'sam'",
    "loop.texts.roadmap == '# Plans\\n\\n- [x] A\\n  - [x] B\\n' && loop.texts.backlog contains '[/] Somebody'",
    "any(loop.left, .title == 'Somebody has it' && .why == ['it is assigned to somebody else'])",
    "len(tickets) == 2 && all(tickets, .state == 'closed')",
  ]`,
		"it ends when there is nothing to do": `
  items = [{ id = "a" }, { id = "b", after = "20m" }]
  expect = ["loop.status == 'stopped' && loop.reason == 'there is nothing to do' && filter(loop.done, # in ['a', 'b']) == ['a', 'b']", "elapsed < 1300"]`,
		"items that others end": `
  items = [{ id = "a" }, { id = "b", needs = ["a"] }, { id = "c", after = "1h" }]
  dispatch "d" { after = "30m" }
  close "d" { after = "30m" }
  close "a" { after = "30s" }
  close "c" { after = "1h" }
  expect = ["filter(loop.done, # in ['a', 'b', 'c', 'd']) == ['a', 'b'] && loop.released == 0 && dispatches[0].state == 'cancelled' && loop.left == []", "loop.items[0].reason == 'it was closed meanwhile, and nothing was written'"]`,
		"a run that waits for a person is parked": `
  run_for = "5h"
  items   = [{ id = "a", labels = ["ask"], assignee = "sam" }, { id = "b", assignee = "sam" }]
  decide "item:ask[a]/ok" {
    decision = "approve"
    after    = "2h"
  }
  at "1h" { expect = ["loop.parked == ['a'] && 'b' in loop.done && agents.sam.parked == 1 && agents.sam.busy == 0 && inbox[0].kind == 'approval'"] }
  expect = ["'a' in loop.done && loop.parked == [] && agents.sam.done >= 2"]`,
		"a failure, and a dead letter": `
  run_for = "3h"
  items   = [{ id = "bad" }, { id = "good" }]
  step "work" {
    replies = [{ error = { message = "no" } }, { output = "ok" }, { error = { message = "no" } }]
  }
  expect = ["loop.failed == 2 && loop.dead == 1 && 'good' in loop.done && dlq[0].kind == 'item'", "notifications[0].kind == 'loop'"]`,
		"a fatal failure stops the agent": `
  run_for = "3h"
  items   = [{ id = "bad", assignee = "leo" }, { id = "a", assignee = "leo" }, { id = "b" }]
  step "work" { replies = [{ output = "ok" }] }
  step "item:do[bad]/work" { replies = [{ error = { kind = "fatal", message = "no key" } }] }
  expect = ["agents.leo.stopped contains 'no key' && agents.leo.failed == 1 && agents.sam.stopped == null && 'b' in loop.done && !('a' in loop.done)", "count(notifications, .level == 'critical') == 1"]`,
		"the driver dies": `
  run_for = "3h"
  items   = [{ id = "a" }, { id = "b" }]
  crash { after = "30s" }
  down {
    after = "10m"
    for   = "1h"
  }
  dispatch "d" { after = "20m" }
  expect = ["loop.closed == 4 && any(loop.items, .id == 'd' && .taken == 4200)", "len(filter(loop.items, .id == 'a')) == 1"]`,
	} {
		t.Run(name, func(t *testing.T) {
			p, loaded := load(t, office, test(body+stubs))
			if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
				t.Errorf("%+v", r.Failures)
			}
		})
	}
}

// On a day on which there is nothing to do, a loop asks its source in the network all day, calls no agent and journals next to nothing. What the
// source lists in the evening is done.
func TestIdleDay(t *testing.T) {
	from, _, _ := strings.Cut(office, "  source \"roadmap\"")
	_, rest, _ := strings.Cut(office, "  handle {")
	program := strings.Replace(from+"  handle {"+rest, "from = \"file\"\n    path = \"TODO.md\"", "from = \"http\"\n    url  = \"https://tracker.example\"", 1)
	p, loaded := load(t, program, test(`
  run_for = "26h"
  items   = [{ id = "a", after = "24h30m" }]
  agent "sam" { replies = [{ output = "ok" }] }
  at "24h" { expect = ["loop.events <= 50 && loop.asked.backlog >= 200 && len(calls.work) == 0 && loop.status == 'idle'"] }
  expect = ["loop.done == ['a'] && len(calls.work) == 1 && calls.work[0].at < 24.6 * 3600"]
`))
	if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
		t.Errorf("%+v", r.Failures)
	}
}

// The driver of a loop dies at each point, and each item is done once all the same.
func TestLoopCrashesEverywhere(t *testing.T) {
	p, loaded := load(t, office, test(`
  crash_everywhere = true
  items = { backlog = [{ id = "a" }], roadmap = "- [ ] Plan\n" }
  dispatch "d" { after = "2s" }
  agent "sam" { replies = [{ output = "ok", takes = "1m" }] }
  agent "leo" { replies = [{ output = "ok", takes = "1m" }] }
  expect = ["loop.closed == 4 && len(calls.work) == 3 && loop.texts.roadmap startsWith '- [x] Plan'"]
`))
	r := flowtest.Run(context.Background(), p, &loaded.Tests[0])
	if !r.Passed() || r.Crashes < 100 {
		t.Errorf("%d crashes: %+v", r.Crashes, r.Failures)
	}
	t.Log(r.Crashes)
	c := flowtest.NewCoverage(p.Program)
	c.Add(r)
	var missed []string
	for _, point := range c.Missed() {
		missed = append(missed, string(point.Kind)+" "+point.Name)
	}
	if got := strings.Join(missed, ", "); got != "node draft, node ok" {
		t.Error(got)
	}
}

// What a routine and an event start hands work over, and the loop does it: all of them run in one test, and a driver dies.
func TestLoopBesideRoutinesAndEvents(t *testing.T) {
	p, loaded := load(t, `
agent "sam" {
  type    = "exec"
  command = ["coder"]
}
loop "l" {
  agents = [agent.sam]
  source "dispatch" {}
  handle {
    workflow = workflow.do
    with     = { said = item.handoff != null ? item.handoff.summary : "nothing" }
  }
}
routine "hourly" {
  every    = "1h"
  workflow = workflow.plan
}
on "urgent" { workflow = workflow.plan }
workflow "plan" {
  step "hand" {
    handoff {
      to      = "sam"
      summary = run.cause.kind
      next    = "Do it."
    }
  }
}
workflow "do" {
  input "said" { type = string }
  step "work" {
    agent = agent.sam
    task  = input.said
  }
  step "more" {
    call       = workflow.more
    depends_on = [step.work]
  }
}
workflow "more" {
  step "deep" { run = ["deep"] }
}
`, test(`
  run_for = "3h30m"
  emit "urgent" { after = "30m" }
  crash { after = "1h30s" }
  agent "sam" { replies = [{ output = "ok", takes = "1m" }] }
  step "deep" { replies = [{ stdout = "" }] }
  expect = [
    "map(calls.sam, .task) == ['event', 'routine', 'routine', 'routine', 'routine']",
    "routines.hourly.started == 3 && loop.closed == 4 && all(dispatches, .state == 'closed' && .handoff.next == 'Do it.')",
    "count(runs, .cause.kind == 'routine' && .cause.scheduled_at != null) == 3 && count(runs, .cause.kind == 'event' && .cause.name == 'urgent') == 1 && count(runs, .cause.kind == 'loop') == 4",
    "node['item:do[ds-1]/more/deep'].status == 'succeeded' && node['on:plan[3]/hand'].status == 'succeeded'",
  ]
`))
	if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
		t.Errorf("%+v", r.Failures)
	}
}

// The agent to which work was handed over has the document in its requests, also in runs that its run calls, without  with . Nobody else has
// it, and a crash changes none of it.
func TestReceiverHasTheDocument(t *testing.T) {
	p, loaded := load(t, `
agent "sam" {
  type    = "exec"
  command = ["coder"]
}
agent "leo" {
  type    = "exec"
  command = ["coder"]
}
agent "ann" { type = "human" }
loop "l" {
  agents = [agent.leo, agent.ann]
  source "dispatch" {}
  handle {
    when     = "item.assignee == 'leo'"
    workflow = workflow.do
  }
  handle { workflow = workflow.ask }
}
on "go" { workflow = workflow.plan }
workflow "plan" {
  step "first" {
    agent = agent.leo
    task  = "Plan."
  }
  step "hand" {
    handoff {
      to        = "leo"
      summary   = "It is planned."
      next      = "Do it.\nThen test it."
      decisions = ["Zod"]
      artifacts = { pr = "https://example.com/pr/7" }
    }
    depends_on = [step.first]
  }
  step "person" {
    handoff {
      to      = "ann"
      summary = "It is planned."
      next    = "Look at it."
    }
    depends_on = [step.hand]
  }
}
workflow "do" {
  step "work" {
    agent = agent.leo
    task  = "Go on."
  }
  step "judge" {
    agent      = agent.sam
    task       = "Judge."
    depends_on = [step.work]
  }
  step "more" {
    call       = workflow.more
    depends_on = [step.judge]
  }
}
workflow "more" {
  step "deep" {
    agent = agent.leo
    task  = "Go deeper."
  }
}
workflow "ask" {
  step "look" {
    agent = agent.ann
    task  = "Look."
  }
}
`, test(`
  loop             = loop.l
  crash_everywhere = true
  run_for          = "2h"
  agent "sam" { replies = [{ output = request.handoff == null ? "nothing" : "something" }] }
  agent "leo" { replies = [{ output = request.handoff == null ? "nothing" : "${request.handoff.summary} ${request.handoff.decisions[0]} ${request.handoff.artifacts.pr}" }] }
  emit "go" {}
  decide "look" {
    decision = "done"
    after    = "1h"
  }
  at "30m" { expect = ["len(inbox) == 1 && inbox[0].show.handoff.next == 'Look at it.'"] }
  expect = [
    "len(dispatches) == 2 && all(dispatches, .state == 'closed')",
    "map(calls.leo, .task) == ['Plan.', 'Go on.', 'Go deeper.']",
    "calls.leo[0].handoff == null && all(calls.leo[1:], .handoff.next == 'Do it.\\nThen test it.' && .handoff.node == 'hand')",
    "len(calls.sam) == 1 && calls.sam[0].handoff == null",
  ]
`))
	r := flowtest.Run(context.Background(), p, &loaded.Tests[0])
	if !r.Passed() || r.Crashes == 0 {
		t.Errorf("%d crashes: %+v", r.Crashes, r.Failures)
	}
}

// A source answers its requests as its stub says: it fails, refuses for a while, answers what is not a list, and lists other items later.
func TestSourceStubs(t *testing.T) {
	from, _, _ := strings.Cut(office, "  source \"roadmap\"")
	_, rest, _ := strings.Cut(office, "  handle {")
	program := strings.Replace(from+"  handle {"+rest, "from = \"file\"\n    path = \"TODO.md\"", "from = \"http\"\n    url  = \"https://tracker.example\"", 1)
	const agents = `
  agent "sam" { replies = [{ output = "ok", takes = "1m" }] }
  agent "leo" { replies = [{ output = "ok", takes = "1m" }] }
`
	tests := map[string]string{
		"a source that refuses for an hour": `
  run_for = "2h"
  items   = [{ id = "a" }]
  source "backlog" {
    replies = [{ status = 503 }, { error = { kind = "rate_limited", status = 429, retry_after = 3600 } }, {}]
  }
  at "59m" { expect = ["loop.asked.backlog == 2 && loop.taken == 0"] }
  expect = ["loop.done == ['a'] && loop.items[0].taken >= 3600"]`,
		"lists that change": `
  run_for          = "10m"
  crash_everywhere = true
  items   = [{ id = "a", capabilities = ["rust"] }]
  source "backlog" {
    replies = [{}, { output = [{ id = "b" }] }, { output = [{ id = "b" }, { id = "c", needs = ["b"] }] }]
  }
  at "1s" { expect = ["loop.left[0].id == 'a'"] }
  expect = ["loop.done == ['b', 'c'] && loop.taken == 2 && loop.left == [] && loop.warnings == []"]`,
	}
	for reply, warning := range map[string]string{
		`{ status = 503 }`: "status 503", `{ error = { message = "no route" } }`: "no route", `{ hang = true }`: "exceeded its timeout of 1m0s", `{ lost = true }`: "lost contact with it",
		`{ exit_code = 3 }`: "exit code 3", `{ output = "<html>" }`: "the answer has no list of items", `{ output = [{ title = "no id" }] }`: "an item needs id and title",
	} {
		tests[reply] = `
  run_for = "2h"
  items   = [{ id = "a" }]
  source "backlog" { replies = [` + reply + `, {}] }
  expect = ["loop.done == ['a'] && loop.asked.backlog > 2 && len(loop.warnings) == 1", "loop.warnings[0] contains 'source backlog cannot be asked: ' && loop.warnings[0] contains '` + warning + `'"]`
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			p, loaded := load(t, program, test(body+agents))
			if r := flowtest.Run(context.Background(), p, &loaded.Tests[0]); !r.Passed() {
				t.Errorf("%+v", r.Failures)
			}
		})
	}
}
