test "each phase gets what the one before has made" {
  crash_everywhere = true
  inputs           = { feature = "search" }

  agent "conductor" { replies = [{ output = { parts = { index = "words to pages", page = "a field and a list" } }, takes = "1m" }] }
  agent "builder" { replies = [{ output = { branch = "b-${request.attempt}" }, takes = "20m" }] }
  agent "integrator" { replies = [{ output = { commit = "c1" }, takes = "5m" }, { output = { commit = "c2" }, takes = "5m" }] }

  agent "reviewer" {
    replies = [
      { output = { accepted = false, words = "The list is not sorted." } },
      { output = { accepted = true, words = "" } },
    ]
  }

  step "test" { replies = [{ takes = "3m" }] }
  step "stage" { replies = [{}] }
  step "live" { replies = [{}] }

  expect = [
    "run.outputs.commit == 'c2'",
    "max_at_once.builder == 2 && elapsed == 34 * 60",
    "map(calls.builder, #.task) == ['Build the index: words to pages', 'Build the page: a field and a list']",
    "calls.integrator[1].feedback == 'The list is not sorted.'",
    "before('integration', 'test') && before('test', 'stage') && before('stage', 'live')",
    "calls.live[0].command == ['./agents/deploy', 'live', 'c2']",
  ]
}

test "nothing is released when the tests fail" {
  inputs = { feature = "search" }

  agent "conductor" { replies = [{ output = { parts = { index = "words to pages" } } }] }
  agent "builder" { replies = [{ output = { branch = "b" } }] }
  agent "integrator" { replies = [{ output = { commit = "c1" } }] }
  agent "reviewer" { replies = [{ output = { accepted = true, words = "" } }] }
  step "test" { replies = [{ exit_code = 1 }] }
  step "stage" { replies = [{}] }
  step "live" { replies = [{}] }

  expect = ["run.status == 'failed' && step.stage.status == 'blocked' && step.live.status == 'blocked'"]
}
