test "a failed test is fixed, tested again and deployed" {
  crash_everywhere = true
  inputs           = { commit = "one" }

  agent "tester" {
    replies = [
      { output = { passed = false, why = "a sum is wrong" }, takes = "5m" },
      { output = { passed = true, why = "" }, takes = "5m" },
    ]
  }

  agent "fixer" {
    replies = [{ output = { commit = "two" }, takes = "10m" }]
  }

  agent "deployer" {
    replies = [{ output = "done", takes = "1m" }]
  }
  expect = [
    "map(runs, .workflow) == ['push', 'test', 'fix', 'test', 'deploy']",
    "all(runs, .status == 'succeeded')",
    "runs[4].input.commit == 'two' && runs[4].cause.name == 'deployment.ready' && runs[4].cause.depth == 4",
    "len(calls.fixer) == 1 && calls.fixer[0].task contains 'a sum is wrong'",
    "map(events, #.name) == ['code.pushed', 'test.failed', 'code.pushed', 'deployment.ready']",
    "runs[4].ended == 1260",
  ]
}

test "code that passes at once is not fixed, and two pushes are deployed one after the other" {
  inputs = { commit = "one" }

  agent "tester" {
    replies = [{ output = { passed = true, why = "" } }]
  }

  agent "deployer" {
    replies = [{ output = "done", takes = "1m" }]
  }

  emit "code.pushed" {
    data  = { commit = "two" }
    after = "10s"
  }
  expect = [
    "count(runs, .workflow == 'fix') == 0 && count(runs, .workflow == 'deploy') == 2",
    "max_at_once.deploy == 1 && elapsed < 1 && runs[3].started == 10",
  ]
}

test "a push that says no commit is a dead letter" {
  inputs = { commit = "one" }

  agent "tester" {
    replies = [{ output = { passed = true, why = "" } }]
  }

  agent "deployer" {
    replies = [{ output = "done" }]
  }

  emit "code.pushed" {
    data  = { size = 3 }
    after = "1m"
  }
  expect = ["len(dlq) == 1 && dlq[0].kind == 'event'", "count(runs, .workflow == 'test') == 1"]
}
