test "the next phase starts once, when the fourth team has arrived" {
  crash_everywhere = true
  workflow         = workflow.prepare
  inputs           = { team = "api", version = "1.4" }
  agent "builder" {
    replies = [{ output = { ready = true, reason = "" } }]
  }

  agent "lead" {
    replies = [{ output = "tested" }]
  }

  check_in "release-1.4" {
    as    = "docs"
    after = "1m"
  }

  check_in "release-1.4" {
    as    = "data"
    after = "2m"
  }

  check_in "release-1.4" {
    as    = "data"
    after = "3m"
  }

  at "4m" {
    expect = ["step.meet.status == 'waiting'", "len(calls.lead) == 0"]
  }

  check_in "release-1.4" {
    as    = "ui"
    after = "5m"
  }
  expect = [
    "run.status == 'succeeded'",
    "run.outputs.integrates",
    "step.meet.output.checked_in == ['api', 'data', 'docs', 'ui']",
    "len(calls.lead) == 1 && calls.lead[0].at == 300",
  ]
}

test "a team that is blocked keeps the others waiting until it is ready" {
  crash_everywhere = true
  workflow         = workflow.prepare
  inputs           = { team = "ui", version = "1.4" }
  agent "builder" {
    replies = [{ output = { ready = false, reason = "a test fails" } }]
  }

  agent "lead" {
    replies = [{ output = "tested" }]
  }

  check_in "release-1.4" {
    as    = "api"
    after = "1m"
  }

  check_in "release-1.4" {
    as    = "docs"
    after = "1m"
  }

  check_in "release-1.4" {
    as     = "data"
    reason = "no disk"
    after  = "2m"
  }

  check_in "release-1.4" {
    as    = "data"
    after = "1h"
  }

  at "2h" {
    expect = ["step.meet.status == 'waiting'"]
  }

  check_in "release-1.4" {
    as    = "ui"
    after = "3h"
  }
  expect = ["run.status == 'succeeded'", "len(calls.lead) == 1 && calls.lead[0].at == 10800"]
}

test "no run waits for longer than three days" {
  workflow = workflow.prepare
  inputs   = { team = "api", version = "1.4" }
  agent "builder" {
    replies = [{ output = { ready = true, reason = "" } }]
  }
  expect = [
    "run.status == 'failed'",
    "step.meet.error.reason == 'timeout' && step.meet.error.kind == 'transient'",
    "elapsed == 259200",
  ]
}

test "four runs meet, and one of them integrates" {
  crash_everywhere = true
  start "api" {
    workflow = workflow.prepare
    inputs   = { team = "api", version = "2.0" }
  }

  start "ui" {
    workflow = workflow.prepare
    inputs   = { team = "ui", version = "2.0" }
    after    = "1m"
  }

  start "docs" {
    workflow = workflow.prepare
    inputs   = { team = "docs", version = "2.0" }
    after    = "2m"
  }

  start "data" {
    workflow = workflow.prepare
    inputs   = { team = "data", version = "2.0" }
    after    = "3m"
  }

  agent "builder" {
    replies = [{ output = { ready = true, reason = "" }, takes = "10m" }]
  }

  agent "lead" {
    replies = [{ output = "tested" }]
  }
  expect = [
    "all(runs, #.status == 'succeeded')",
    "count(runs, #.outputs.integrates) == 1",
    "len(calls.lead) == 1 && calls.lead[0].at == 780",
  ]
}
