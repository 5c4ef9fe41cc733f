test "a bug is found and repaired by the agent that took it" {
  workflow = workflow.fix
  inputs   = { title = "the login", worker = "leo" }
  agent "leo" { replies = [{ output = "a wrong cookie" }] }
  expect = [
    "run.status == 'succeeded'",
    "calls.leo[0].task == 'Find the cause: the login'",
    "calls.leo[1].task == 'Repair it: a wrong cookie'",
  ]
}

test "the other workflows give their task to the worker" {
  start "feature" {
    workflow = workflow.feature
    inputs   = { title = "a page", worker = "sam" }
  }

  start "tidy" {
    workflow = workflow.tidy
    inputs   = { worker = "sam" }
    after    = "1m"
  }

  start "document" {
    workflow = workflow.document
    inputs   = { worker = "sam" }
    after    = "2m"
  }

  agent "sam" { replies = [{ output = "done" }] }
  expect = ["len(calls.sam) == 3", "calls.sam[0].task == 'a page'"]
}

test "an agent that falls silent is started again after five minutes, and its item stays with it" {
  loop = loop.engineering
  items = {
    roadmap = [{ id = "page", assignee = "sam" }, { id = "table", assignee = "leo" }]
  }

  agent "sam" { replies = [{ hang = true }, { output = "done", takes = "1m" }] }
  agent "leo" { replies = [{ output = "done", takes = "1m" }] }
  expect = [
    "count(calls.sam, .task == 'page') == 2 && calls.sam[0].ended == 300 && calls.sam[1].at == 300",
    "count(loop.items, .id == 'page') == 1 && 'page' in loop.done && agents.sam.failed == 0",
    "count(calls.leo, .task == 'table') == 1 && filter(loop.items, .id == 'table')[0].ended == 60",
  ]
}

# The tidying of the day is done at its beginning. Then nobody is called, and the journal of the loop stays short, while the roadmap is looked at.
test "a day on which there is nothing to do" {
  loop    = loop.engineering
  run_for = "24h"
  vars    = { tidy_every = "7d" }
  items   = { roadmap = [] }
  agent "sam" { replies = [{ output = "done", takes = "1m" }] }
  expect = [
    "loop.asked.roadmap >= 45 && loop.events <= 50",
    "map(calls.sam, .task) == ['Make one thing simpler'] && len(calls.leo) == 0",
  ]
}

# From a Monday at 8 to the next one: the roadmap is worked off, leo fails once, a person takes two days to answer, what is handed in on the
# third day goes before the rest of the roadmap, a process dies and another one takes over, later there is none for an hour, and at the
# weekend, when there is nothing to do, nobody is called.
test "a week" {
  run_for = "168h"
  vars    = { tidy_every = "7d" }
  items   = { roadmap = file("ROADMAP.md") }

  agent "sam" { replies = [{ output = "done", takes = "14h" }] }
  agent "leo" { replies = [{ error = { message = "the disk is full" }, takes = "14h" }, { output = "done", takes = "14h" }] }

  dispatch "version-2" {
    title    = "Version 2"
    labels   = ["release"]
    assignee = "sam"
    after    = "1h"
  }

  dispatch "login" {
    title    = "The login"
    labels   = ["bug"]
    priority = 5
    after    = "45h"
  }

  crash { after = "20h" }

  down {
    after = "70h"
    for   = "1h"
  }

  decide "item:release[version-2]/allow" {
    decision = "approve"
    by       = "ann"
    after    = "48h"
  }

  at "17h" { expect = ["loop.failed == 1 && agents.leo.failed == 1 && agents.leo.busy == 1", "loop.texts.roadmap contains '- [/] The first chapter'"] }

  at "45h30m" { expect = ["any(dispatches, .id == 'login' && .state == 'open') && any(loop.left, .title == 'Write the manual')"] }

  at "50h" {
    expect = [
      "loop.working[0] == 'login' && len(loop.working) == 2 && loop.parked == ['version-2']",
      "agents.sam.busy == 1 && agents.leo.busy == 1 && agents.sam.parked == 1",
      "inbox[0].prompt == 'Version 2 is ready. May it go out?'",
      "loop.missed == []",
    ]
  }

  at "112h" { expect = ["loop.status == 'idle' && loop.left == []"] }

  expect = [
    "map(loop.items, .title) == ['Count the words of a file', 'The first chapter', 'Version 2', 'The first chapter', 'The second chapter', 'Say hello in three languages', 'The login', 'Write the manual', 'tidy']",
    "loop.missed == ['idle']", # at the weekend
    "loop.failed == 1 && loop.closed == 8 && loop.dead == 0 && loop.parked == [] && len(notifications) == 0",
    "!(loop.texts.roadmap contains '[ ]') && !(loop.texts.roadmap contains '[/]')",
    "len(tickets) == 5 && all(tickets, .state == 'closed')",
    "count(calls.sam, .at >= 112 * 3600) + count(calls.leo, .at >= 112 * 3600) == 0",
    "before('item:feature[1ca2a1a9e759]/build', 'item:feature[fa3f9ee19878]/build')",
    "node['item:release[version-2]/allow'].output.decision == 'approved'",
  ]
}
