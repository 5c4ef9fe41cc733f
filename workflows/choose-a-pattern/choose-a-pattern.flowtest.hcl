test "the table: what complexity, dependencies, reliability and time lead to" {
  start "simple" {
    workflow = workflow.propose
    inputs   = { complexity = "simple", dependencies = "dependent", reliability = "normal", time = "flexible" }
  }

  start "urgent" {
    workflow = workflow.propose
    inputs   = { complexity = "simple", dependencies = "independent", reliability = "normal", time = "urgent" }
  }

  start "complex" {
    workflow = workflow.propose
    inputs   = { complexity = "complex", dependencies = "independent", reliability = "normal", time = "flexible" }
  }

  start "reliable" {
    workflow = workflow.propose
    inputs   = { complexity = "simple", dependencies = "dependent", reliability = "high", time = "flexible" }
  }

  start "bound" {
    workflow = workflow.propose
    inputs   = { complexity = "simple", dependencies = "dependent", reliability = "normal", time = "urgent" }
  }

  expect = [
    "runs.simple.outputs.pattern == 'sequential' && runs.urgent.outputs.pattern == 'parallel'",
    "runs.complex.outputs.pattern == 'delegation' && runs.reliable.outputs.pattern == 'feedback'",
    "runs.bound.outputs == {'pattern': 'sequential', 'why': 'each part builds on the one before, however urgent it is'}",
    "runs.urgent.outputs.why == 'the parts are independent and it is urgent, so they are done at once'",
  ]
}

test "independent parts are done at once" {
  crash_everywhere = true
  agent "analyst" { replies = [{ output = { parts = ["a", "b"], complexity = "simple", dependencies = "independent", reliability = "normal", time = "urgent" } }] }
  agent "worker" { replies = [{ output = "done", takes = "10m" }] }

  expect = ["run.outputs.pattern == 'parallel' && elapsed == 600 && len(calls.worker) == 2"]
}

test "dependent parts are done one after the other, each with the result of the one before" {
  agent "analyst" { replies = [{ output = { parts = ["a", "b"], complexity = "simple", dependencies = "dependent", reliability = "normal", time = "urgent" } }] }
  agent "worker" { replies = [{ output = "of ${request.task}", takes = "10m" }] }

  expect = ["run.outputs.pattern == 'sequential' && elapsed == 1200 && map(calls.worker, #.with.before) == [null, 'of a']"]
}

test "a complex task is divided, and each part is reviewed" {
  agent "analyst" { replies = [{ output = { parts = ["a", "b"], complexity = "complex", dependencies = "dependent", reliability = "normal", time = "flexible" } }] }
  agent "worker" { replies = [{ output = "done" }] }
  agent "reviewer" { replies = [{ output = { accepted = true, words = "" } }] }

  expect = ["run.outputs.pattern == 'delegation' && len(calls.worker) == 2 && len(calls.reviewer) == 2"]
}

test "what must be reliable goes through rounds of review" {
  agent "analyst" { replies = [{ output = { parts = ["a", "b"], complexity = "simple", dependencies = "dependent", reliability = "high", time = "flexible" } }] }
  agent "worker" { replies = [{ output = "done" }] }
  agent "reviewer" { replies = [{ output = { accepted = false, words = "Too short." } }, { output = { accepted = true, words = "" } }] }

  expect = ["run.outputs.pattern == 'feedback' && len(calls.worker) == 2 && calls.worker[1].feedback contains 'Too short.'"]
}
