test "a failed test is fixed, tested again and deployed" {
  crash_everywhere = true
  inputs           = { commit = "" }
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

  emit "code.pushed" {
    data  = { commit = "one" }
    after = "1m"
  }
  expect = [
    "run.status == 'succeeded'",
    "run.outputs.deployed == 'two'",
    "len(calls.fixer) == 1 && calls.fixer[0].task contains 'a sum is wrong'",
    "map(events, #.name) == ['code.pushed', 'test.failed', 'code.pushed', 'deployment.ready']",
    "elapsed == 1320",
  ]
}

test "code that passes at once is not fixed" {
  crash_everywhere = true
  inputs           = { commit = "" }
  agent "tester" {
    replies = [{ output = { passed = true, why = "" } }]
  }

  agent "deployer" {
    replies = [{ output = "done", takes = "1m" }]
  }

  emit "code.pushed" {
    data = { commit = "one" }
  }

  emit "code.pushed" {
    data = { size = 3 }
  }
  expect = [
    "run.outputs.deployed == 'one'",
    "len(calls.fixer) == 0 && step.fix.status == 'cancelled'",
  ]
}

test "no push arrives" {
  inputs = { commit = "" }
  expect = ["run.status == 'failed'", "elapsed == 86400", "len(events) == 0"]
}

test "an event for one run reaches no other, and what a run publishes reaches all" {
  start "one" {
    inputs = { commit = "" }
  }

  start "other" {
    inputs = { commit = "" }
  }

  agent "tester" {
    replies = [{ output = { passed = true, why = "" } }]
  }

  agent "deployer" {
    replies = [{ output = "done", takes = "1m" }]
  }

  emit "code.pushed" {
    data  = { commit = "a" }
    run   = "one"
    after = "1h"
  }
  expect = [
    "len(calls.tester) == 1",
    "runs.one.step.passed.output.commit == 'a' && runs.other.step.passed.output.commit == 'a'",
    "len(calls.deployer) == 2",
  ]
}

test "a run can push, too" {
  agent "tester" {
    replies = [{ output = { passed = strcontains(request.task, "3c4d"), why = "a sum is wrong" } }]
  }

  agent "fixer" { replies = [{ output = { commit = "3c4d" } }] }
  agent "deployer" { replies = [{ output = "done" }] }

  expect = ["run.outputs.deployed == '3c4d'", "map(calls.tester, #.at) == [0, 0]"]
}
