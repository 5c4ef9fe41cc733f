test "The breaker opens after three failures in a row, and closes with the first success after its reset" {
  crash_everywhere = true
  step "ask" { replies = [{ exit_code = request.attempt < 3 ? 1 : 0, takes = "1s" }] }
  step "again" { replies = [{ exit_code = request.attempt < 3 ? 1 : 0, takes = "1s" }] }
  step "broken" { replies = [{ exit_code = 1, takes = "1s" }] }
  step "late" { replies = [{ takes = "1s" }] }
  at "9s" { expect = ["breakers.remote.state == 'closed'"] }
  at "14s" { expect = ["breakers.remote.state == 'open' && step.broken.attempts == 3"] }

  expect = [
    "run.status == 'succeeded' && step.again.attempts == 3 && step.late.attempts == 1",
    "breakers.remote.state == 'closed' && elapsed >= 16",
  ]
}
