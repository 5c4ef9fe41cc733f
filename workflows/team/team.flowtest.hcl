test "the conductor says who does which part" {
  crash_everywhere = true
  inputs           = { change = "orders can be cancelled" }
  agent "conductor" {
    replies = [{ output = [{ who = "frontend", task = "a button" }, { who = "backend", task = "a column" }] }]
  }

  agent "frontend" { replies = [{ output = "done: ${request.task}" }] }
  agent "backend" { replies = [{ output = "done: ${request.task}" }] }
  agent "anna" { replies = [{ output = "good: ${request.with.change}" }] }
  agent "bert" { replies = [{ output = "good: ${request.with.change}" }] }

  expect = [
    "run.status == 'succeeded'",
    "node['part[0]'].agent == 'frontend' && node['part[1]'].agent == 'backend'",
    "run.outputs.reviews == ['good: done: a button', 'good: done: a column']",
  ]
}

test "a part for an agent that is not a member fails, and the error has the nearest name" {
  inputs = { change = "orders can be cancelled" }
  agent "conductor" { replies = [{ output = [{ who = "backed", task = "a column" }] }] }

  expect = [
    "run.status == 'failed'",
    "node['part[0]'].error.reason == 'no_member'",
    "node['part[0]'].error.message endsWith 'did you mean \"backend\"?'",
  ]
}

test "nine reviews go round three reviewers: three each, in order" {
  inputs = { change = "nine parts" }
  agent "conductor" { replies = [{ output = [for i in range(9) : { who = "backend", task = "part ${i}" }] }] }
  agent "backend" { replies = [{ output = request.task }] }
  agent "anna" { replies = [{ output = "good" }] }
  agent "bert" { replies = [{ output = "good" }] }
  agent "cleo" { replies = [{ output = "good" }] }

  expect = [
    "len(calls.anna) == 3 && len(calls.bert) == 3 && len(calls.cleo) == 3",
    "map(calls.review, .agent)[:4] == ['anna', 'bert', 'cleo', 'anna']",
  ]
}

test "chores go to who has the least to do: the slow one gets the fewest" {
  crash_everywhere = true
  inputs           = { change = "nothing", chores = [for i in range(20) : "chore ${i}"] }
  agent "conductor" { replies = [{ output = [] }] }
  agent "backend" { replies = [{ output = "done", takes = "1m" }] }
  agent "frontend" { replies = [{ output = "done", takes = "1m" }] }
  agent "trainer" { replies = [{ output = "done", takes = "10m" }] }

  expect = [
    "len(calls.trainer) == 1",
    "len(calls.backend) + len(calls.frontend) == 19",
    "max_at_once.backend == 2 && max_at_once.frontend == 2 && max_at_once.trainer == 1",
  ]
}

test "only who has a GPU trains, and while the GPU is busy a model waits" {
  inputs = { change = "nothing", models = ["small", "large", "huge"] }
  agent "conductor" { replies = [{ output = [] }] }
  agent "trainer" { replies = [{ output = "trained", takes = "1h" }] }

  expect = [
    "len(calls.trainer) == 3 && len(calls.backend) == 0 && len(calls.frontend) == 0",
    "max_at_once.trainer == 1 && elapsed == 3 * 3600",
  ]
}
