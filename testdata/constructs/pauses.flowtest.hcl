test "Nobody answers" {
  crash_everywhere = true
  step "look" { replies = [{}] }

  at "250ms" {
    expect = ["inbox[0].node == 'day' && inbox[0].prompt contains 'Only on a monday.' && inbox[0].until == 0.4"]
  }
  expect = [
    "run.status == 'succeeded' && len(calls.look) == 2",
    "run.outputs.job == [3, 2]",
    "step.never.status == 'failed' && step.never.escalated == 'human' && step.never.attempts == 2 && step.never.error.reason == 'timeout'",
    "step.day.status == 'failed' && step.day.attempts == 2 && step.day.error.gate == 'monday'",
    "step.ok.status == 'failed' && step.ok.escalated == 'human' && step.ok.error.reason == 'rejected'",
  ]
}

test "People answer" {
  crash_everywhere = true
  step "look" { replies = [{}] }

  decide "day" {
    decision = "approve"
    by       = "ann"
    input    = { day = "sunday" }
    after    = "10ms"
  }

  decide "day" {
    decision = "approve"
    by       = "ann"
    input    = { day = "monday" }
    after    = "20ms"
  }

  decide "ok" {
    decision = "reject"
    by       = "bob"
    after    = "30ms"
  }

  decide "ok" {
    decision = "approve"
    by       = "bob"
    after    = "60ms"
  }

  emit "never" { after = "150ms" }
  expect = [
    "run.status == 'succeeded' && len(calls.look) == 2",
    "step.day.output.input.day == 'monday' && step.day.attempts == 2",
    "step.ok.output.by == ['bob'] && step.ok.escalated == 'again' && step.ok.attempts == 2",
    "step.never.status == 'succeeded' && step.never.escalated == 'again' && step.never.attempts == 2",
  ]
}

test "A person decides what becomes of it" {
  crash_everywhere = true
  step "look" { replies = [{ exit_code = 1 }] }

  decide "never" {
    decision = "skip"
    by       = "eve"
    after    = "150ms"
  }

  decide "ok" {
    decision = "retry"
    by       = "eve"
    after    = "250ms"
  }

  decide "ok" {
    decision = "approve"
    by       = "bob"
    after    = "260ms"
  }
  expect = [
    "run.status == 'succeeded' && step.never.status == 'skipped' && step.never.by == 'eve'",
    "step.ok.status == 'succeeded' && step.ok.output.by == ['bob'] && step.ok.escalated == 'human'",
  ]
}
