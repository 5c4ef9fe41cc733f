test "after five failures calls fail at once, one probe follows the reset, and its success closes the breaker" {
  agent "tracker" {
    replies = [
      { exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 },
      { output = "back", takes = "5s" }, { output = "fine" },
    ]
  }

  agent "code_host" { replies = [{ output = "fine" }] }

  start "r1" { workflow = workflow.visit }

  start "r2" {
    workflow = workflow.visit
    after    = "1s"
  }

  start "r3" {
    workflow = workflow.visit
    after    = "2s"
  }

  start "r4" {
    workflow = workflow.visit
    after    = "3s"
  }

  start "r5" {
    workflow = workflow.visit
    after    = "4s"
  }

  start "r6" {
    workflow = workflow.visit
    after    = "5s"
  }

  start "r7" {
    workflow = workflow.visit
    after    = "40s"
  }

  start "r8" {
    workflow = workflow.visit
    after    = "41s"
  }

  start "r9" {
    workflow = workflow.visit
    after    = "50s"
  }

  at "3500ms" { expect = ["breakers.tracker.state == 'closed' && breakers.tracker.failures == 4"] }
  at "10s" { expect = ["breakers.tracker.state == 'open' && breakers.code_host.state == 'closed'"] }
  at "42s" { expect = ["breakers.tracker.state == 'half_open'"] }

  expect = [
    # The sixth call was not made, and neither was another one beside the probe.
    "runs.r6.step.tracker.error.reason == 'breaker' && runs.r6.ended == 5",
    "runs.r7.step.tracker.output == 'back' && runs.r8.step.tracker.error.reason == 'breaker'",
    "len(calls.tracker) == 7 && calls.tracker[5].at == 40 && calls.tracker[6].at == 50",
    "breakers.tracker.state == 'closed' && breakers.tracker.failures == 0",
    # The other service was called by all nine.
    "len(calls.code_host) == 9 && all(runs, .step.code_host.status == 'succeeded')",
  ]
}

test "calls that wait start after the reset: first one probe, then the rest" {
  agent "feed" { replies = [{ exit_code = 1 }, { exit_code = 1 }, { output = "news", takes = "10s" }] }

  start "p1" { workflow = workflow.patient }

  start "p2" {
    workflow = workflow.patient
    after    = "1s"
  }

  start "p3" {
    workflow = workflow.patient
    after    = "2s"
  }

  start "p4" {
    workflow = workflow.patient
    after    = "3s"
  }

  at "4m" { expect = ["len(calls.feed) == 2 && runs.p3.status == 'waiting' && runs.p4.status == 'waiting'"] }

  expect = [
    "len(calls.feed) == 4 && calls.feed[2].at == 301 && calls.feed[3].at == 311",
    "runs.p3.status == 'succeeded' && runs.p4.status == 'succeeded'",
  ]
}

test "a probe that fails opens the breaker for another reset" {
  agent "feed" { replies = [{ exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { output = "news" }] }

  start "p1" { workflow = workflow.patient }
  start "p2" { workflow = workflow.patient }

  start "p3" {
    workflow = workflow.patient
    after    = "1s"
  }

  start "p4" {
    workflow = workflow.patient
    after    = "301s"
  }

  expect = ["len(calls.feed) == 4 && calls.feed[2].at == 300 && calls.feed[3].at == 600"]
}
