test "Nobody decides in time, and the next level follows" {
  crash_everywhere = true
  step "build" { replies = [{ exit_code = 4 }, {}] }
  step "text" { replies = [{ output = { text = "short" } }] }
  step "ship" { replies = [{ exit_code = 7 }] }
  step "look" { replies = [{}] }

  at "50ms" {
    expect = ["map(inbox, .kind) == ['escalation', 'escalation', 'escalation'] && inbox[0].words == ['retry', 'skip', 'abort', 'override', 'ack']"]
  }
  expect = [
    "run.status == 'succeeded' && len(inbox) == 0 && len(calls.look) == 2",
    "step.build.status == 'succeeded' && step.build.escalated == 'mended' && step.build.by == null",
    "step.text.status == 'failed' && step.text.escalated == 'reviewer'",
    "step.release.status == 'failed' && step.release.iterations == 2 && step.release.escalated == 'reviewer'",
    "elapsed >= 0.1",
  ]
}

test "People decide" {
  crash_everywhere = true
  step "build" { replies = [{ exit_code = 4 }, {}] }
  step "text" { replies = [{ output = { text = "short" } }] }
  step "ship" { replies = [{ exit_code = 7 }] }

  decide "build" {
    decision = "retry"
    by       = "ann"
    after    = "10ms"
  }

  decide "text" {
    decision = "override"
    by       = "bob"
    output   = { title = "x" }
  }

  decide "text" {
    decision = "override"
    by       = "bob"
    output   = { text = "longer" }
    after    = "20ms"
  }

  decide "release" {
    decision = "skip"
    by       = "eve"
    after    = "30ms"
  }
  expect = [
    "run.status == 'succeeded' && step.build.status == 'succeeded' && step.build.attempts == 2 && step.build.by == null",
    "step.text.status == 'succeeded' && step.text.output.text == 'longer' && step.text.by == 'bob' && len(calls.text) == 1",
    "step.release.status == 'skipped' && step.release.output == null && step.release.by == 'eve' && step.release.error == null",
    "map(refused_decisions, .why) == ['misfit']",
    "elapsed == 0.03",
  ]
}

test "Whoever looks at it has time" {
  crash_everywhere = true
  step "build" { replies = [{ exit_code = 4 }] }
  step "text" { replies = [{ output = { text = "short" } }] }
  step "ship" { replies = [{ exit_code = 7 }] }

  decide "build" {
    decision = "ack"
    by       = "ann"
    after    = "50ms"
  }

  decide "text" {
    decision = "ack"
    by       = "ann"
    after    = "60ms"
  }

  decide "release" {
    decision = "ack"
    after    = "70ms"
  }

  decide "build" {
    decision = "abort"
    by       = "ann"
    comment  = "enough"
    after    = "200ms"
  }

  at "150ms" {
    expect = ["len(inbox) == 3 && inbox[0].votes[0].word == 'ack' && inbox[0].until == 0.25"]
  }
  expect = [
    "run.status == 'failed' && run.error.reason == 'aborted' && step.build.by == 'ann'",
    "step.build.status == 'failed' && step.text.status == 'cancelled' && step.release.status == 'cancelled'",
    "step.build.error.message contains 'ann aborted it: enough'",
    "elapsed == 0.2",
  ]
}
