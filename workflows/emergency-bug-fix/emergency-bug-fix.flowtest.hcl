test "the self-healing agent mends what two of three take for the cause, and the tests come before the deployment" {
  crash_everywhere = true
  inputs           = { services = ["api"] }

  agent "architect" { replies = [{ output = { cause = "load" } }] }
  agent "backend" { replies = [{ output = { cause = "cache" } }] }
  agent "frontend" { replies = [{ output = { cause = "cache" } }] }
  agent "self_healing" { replies = [{ output = { commit = "c1" }, takes = "10m" }] }
  step "test" { replies = [{ stdout = "ok", takes = "5m" }] }
  agent "operations" { replies = [{ output = "deployed" }] }

  expect = [
    "len(runs) == 2 && runs[1].status == 'succeeded' && runs[1].cause.name == 'error.reported'",
    "runs[1].outputs == {'cause': 'cache', 'mended_by': ['self_healing']}",
    "calls.self_healing[0].task == 'Mend api. The cause: cache. The list of orders answers with 500.' && len(calls.specialist) == 0",
    "calls.test[0].command[1] == 'c1' && calls.test[0].at == 600 && calls.operations[0].at == 900",
  ]
}

test "where self-healing fails, the specialist is asked the same" {
  crash_everywhere = true
  workflow         = workflow.fix_bug
  inputs           = { id = "e-7", message = "500", services = ["api", "orders"] }
  agent "architect" { replies = [{ output = { cause = "cache" } }] }
  agent "backend" { replies = [{ output = { cause = "cache" } }] }
  agent "frontend" { replies = [{ hang = true }] }
  agent "self_healing" { replies = [{ output = { commit = "c1" } }, { error = { kind = "blocking", message = "unknown service" } }] }
  agent "specialist" { replies = [{ output = { commit = "c2" } }] }
  step "test" { replies = [{ stdout = "ok" }] }
  agent "operations" { replies = [{ output = "deployed" }] }

  expect = [
    "run.status == 'succeeded' && run.outputs.mended_by == ['self_healing', 'specialist']",
    "len(calls.specialist) == 1 && calls.specialist[0].task == 'Mend orders. The cause: cache. 500'",
    "calls.test[0].command[1] == 'c1,c2'",
  ]
}

test "nothing is deployed when the tests fail, or when no agent can repair a service" {
  agent "architect" { replies = [{ output = { cause = "a" } }] }
  agent "backend" { replies = [{ output = { cause = "b" } }] }
  agent "frontend" { replies = [{ output = { cause = "c" } }] }
  agent "self_healing" { replies = [{ error = { kind = "blocking", message = "unknown" } }] }
  agent "specialist" { replies = [{ output = { commit = "c2" } }, { error = { kind = "blocking", message = "unknown" } }] }
  step "test" { replies = [{ exit_code = 1 }] }
  agent "operations" { replies = [{ output = "deployed" }] }

  start "tests" {
    workflow = workflow.fix_bug
    inputs   = { id = "one", message = "500", services = ["api"] }
  }

  start "nobody" {
    workflow = workflow.fix_bug
    inputs   = { id = "two", message = "500", services = ["api"] }
    after    = "1h"
  }

  expect = [
    "runs.tests.status == 'failed' && runs.nobody.status == 'failed' && len(calls.operations) == 0",
    "calls.self_healing[0].task contains 'The cause: unknown.' && len(calls.test) == 1",
  ]
}

test "a busy machine has one service repaired at a time" {
  workflow = workflow.fix_bug
  inputs   = { id = "e-7", message = "500", services = ["a", "b", "c", "d", "e", "f"] }
  agent "architect" { replies = [{ output = { cause = "cache" } }] }
  agent "backend" { replies = [{ output = { cause = "cache" } }] }
  agent "frontend" { replies = [{ output = { cause = "cache" } }] }
  agent "self_healing" { replies = [{ output = { commit = "c" }, takes = "10m" }] }
  step "test" { replies = [{ stdout = "ok" }] }
  agent "operations" { replies = [{ output = "deployed" }] }

  metrics {
    after = "5m"
    cpu   = 90
  }

  at "11m" { expect = ["live == 1"] }
  expect = ["run.status == 'succeeded' && max_at_once.mend == 4 && elapsed == 1800 && changes[0].to == 1"]
}

test "an error that is reported again while it is repaired starts nothing more" {
  inputs = { services = ["api"] }
  emit "error.reported" {
    data  = { id = "e-1", message = "500", services = ["api"] }
    after = "1m"
  }

  agent "architect" { replies = [{ output = { cause = "cache" } }] }
  agent "backend" { replies = [{ output = { cause = "cache" } }] }
  agent "frontend" { replies = [{ output = { cause = "cache" } }] }
  agent "self_healing" { replies = [{ output = { commit = "c1" }, takes = "10m" }] }
  step "test" { replies = [{ stdout = "ok" }] }
  agent "operations" { replies = [{ output = "deployed" }] }

  expect = ["len(calls.self_healing) == 1 && len(calls.operations) == 1"]
}
