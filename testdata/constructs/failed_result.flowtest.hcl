test "Rules about failures read what the program wrote" {
  crash_everywhere = true
  step "passes" { replies = [{ exit_code = 1, stderr = "connection reset by peer" }] }
  step "stays" { replies = [{ exit_code = 1, stderr = "404 not found" }] }
  step "full" { replies = [{ exit_code = 1, stderr = "No space left on device" }] }
  step "release" { replies = [{ exit_code = 3, stderr = "production is down" }, {}] }
  step "missing" { replies = [{ exit_code = 1, stderr = "404 not found", takes = "1s" }] }
  step "away" { replies = [{ exit_code = 1, stderr = "connection reset by peer", takes = "1s" }] }
  at "1500ms" { expect = ["step.missing.status == 'failed' && breakers.mirror.state == 'closed'"] }

  expect = [
    "run.status == 'succeeded'",
    "step.passes.attempts == 3 && step.stays.attempts == 1",
    "step.full.attempts == 1 && step.full.error.kind == 'fatal'",
    "step.release.attempts == 2 && step.release.escalated == 'mended'",
    "breakers.mirror.state == 'open'",
  ]
}
