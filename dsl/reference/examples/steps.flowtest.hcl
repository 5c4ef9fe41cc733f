test "a page that fails is repaired" {
  workflow         = workflow.steps
  inputs           = { pages = ["a"] }
  vars             = { region = "us" }
  kv               = { release = 4 }
  start_at         = "2026-03-01T09:00:00Z"
  run_for          = "48h"
  crash_everywhere = true

  step "page" { replies = [{ exit_code = 1 }] }
  agent "medic" { replies = [{ output = "a comma" }] }

  expect = ["step.page.status == 'failed'", "kv['release'] == 5"]
}

test "two people decide, and the other party comes" {
  workflow = workflow.steps

  step "page" { replies = [{ takes = "1m" }] }
  agent "medic" { replies = [{ output = "a comma" }] }

  decide "choose" {
    decision = "done"
    output   = "red"
  }

  decide "ask" {
    decision = "approve"
    after    = "5m"
    by       = "ann"
    comment  = "fine"
    input    = { day = "monday" }
    shown    = 1
  }

  check_in "release" {
    as     = "app"
    reason = "the tests of the app fail"
    after  = "1m"
  }

  check_in "release" {
    as    = "app"
    after = "20m"
  }

  emit "build.done" {
    after = "10m"
    data  = { build = 7 }
    key   = "7"
  }

  metrics {
    cpu    = 90
    memory = 40
    after  = "30s"
  }

  at "30s" { expect = ["live > 0"] }

  expect = ["run.status == 'succeeded'"]
}

test "runs beside each other" {
  start "first" {
    workflow = workflow.steps
    inputs   = { pages = ["a"] }
  }

  start "second" {
    workflow = workflow.steps
    inputs   = { pages = ["b"] }
    after    = "1m"
  }

  step "page" { replies = [{ exit_code = 1 }] }
  agent "medic" { replies = [{ output = "a comma" }] }

  emit "build.done" {
    run   = "first"
    after = "10m"
  }

  metrics {
    of    = "second"
    cpu   = 90
    after = "2m"
  }

  cancel {
    of    = "second"
    after = "1h"
  }

  crash {
    of    = "first"
    after = "5m"
  }

  down {
    of    = "second"
    for   = "10m"
    after = "20m"
  }

  retry "again" {
    of    = "second"
    from  = "number"
    set   = { fix = "a comma" }
    by    = "ann"
    after = "2h"
  }

  run_for = "3h"
  expect  = ["runs.second.status == 'cancelled'"]
}

test "a run that failed is started again" {
  start "first" { workflow = workflow.nightly }
  step "copy" { replies = [{ exit_code = 1 }, { exit_code = 0 }] }

  redrive "again" {
    of    = "first"
    after = "1h"
  }

  expect = ["runs.first.status == 'failed'", "runs.again.status == 'succeeded'"]
}

test "a person cancels the step that waits for the other party" {
  workflow = workflow.steps

  step "page" { replies = [{ takes = "1m" }] }
  agent "medic" { replies = [{ output = "a comma" }] }

  cancel {
    node   = "meet"
    by     = "ann"
    reason = "the other party will not come"
    after  = "1h"
  }

  expect = ["step.meet.status == 'cancelled'"]
}
