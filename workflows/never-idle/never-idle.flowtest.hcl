test "what is handed in comes first, then the list, then the roadmap, and then tidying" {
  items = {
    backlog = [{ id = "todo", assignee = "sam" }, { id = "later", assignee = "sam", needs = ["todo"] }]
    roadmap = [{ id = "plan", title = "A plan", after = "2m" }]
  }

  dispatch "bug" { assignee = "sam" }

  agent "sam" { replies = [{ output = "done", takes = "1m" }] }
  agent "leo" { replies = [{ output = "done", takes = "1m" }] }
  step "test" { replies = [{}] }
  step "check" { replies = [{}] }

  expect = [
    "filter(map(calls.sam, .task), # in ['bug', 'todo', 'later']) == ['bug', 'todo', 'later']",
    "len(tickets) == 1 && tickets[0].title == 'A plan' && tickets[0].state == 'closed'",
    "count(runs, .workflow == 'tidy') == 1 && loop.closed == 5 && loop.reason == 'there is nothing to do'",
  ]
}

test "an agent whose key is wrong is stopped, its work waits, one alert is sent, and the other continues" {
  loop    = loop.team
  run_for = "1h"
  items   = { backlog = [{ id = "bad", assignee = "leo" }, { id = "next", assignee = "leo" }, { id = "other", assignee = "sam" }] }

  agent "sam" { replies = [{ output = "done" }] }
  agent "leo" { replies = [{ error = { kind = "fatal", message = "the key is not valid" } }] }
  step "test" { replies = [{}] }
  step "check" { replies = [{}] }

  expect = [
    "agents.leo.stopped contains 'the key is not valid' && agents.sam.stopped == null",
    "count(calls.leo, .task != 'Make one thing simpler, and leave all else as it is.') == 1 && !('next' in loop.done) && 'other' in loop.done",
    "count(notifications, .level == 'critical') == 1",
  ]
}

test "while a person decides, the agent does other work, and the release continues by itself" {
  loop    = loop.team
  run_for = "3h"
  items   = { backlog = [{ id = "1.4", labels = ["release"], assignee = "sam", priority = 9 }, { id = "fix", assignee = "sam" }] }

  agent "sam" { replies = [{ output = "done", takes = "1m" }] }
  agent "leo" { replies = [{ output = "done", takes = "1m" }] }
  step "test" { replies = [{}] }
  step "check" { replies = [{}] }

  decide "item:release[1.4]/ok" {
    decision = "approve"
    by       = "ann"
    after    = "2h"
  }

  at "1h" { expect = ["loop.parked == ['1.4'] && 'fix' in loop.done && agents.sam.busy == 0"] }
  expect = ["'1.4' in loop.done && loop.parked == []"]
}

test "what fails twice is a dead letter, and the rest is done" {
  items = { backlog = [{ id = "bad" }, { id = "good" }] }

  agent "sam" { replies = [{ output = "done" }] }
  agent "leo" { replies = [{ output = "done" }] }
  step "test" { replies = [{}] }
  step "item:work[bad]/test" { replies = [{ exit_code = 1 }] }
  step "check" { replies = [{}] }

  expect = ["loop.dead == 1 && dlq[0].kind == 'item' && 'good' in loop.done"]
}

test "a day without work calls no agent except for a little tidying" {
  loop    = loop.team
  run_for = "23h"

  agent "sam" { replies = [{ output = "done" }] }
  agent "leo" { replies = [{ output = "done" }] }
  step "check" { replies = [{}] }

  expect = ["loop.taken == 1 && len(calls.sam) + len(calls.leo) == 1 && loop.status == 'idle'"]
}
