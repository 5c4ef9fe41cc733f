test "A workflow heals, another agent takes over, and a group is made again" {
  crash_everywhere = true
  step "config" { replies = [{ exit_code = 4 }, { exit_code = 5 }] }
  step "ship" { replies = [{ exit_code = 7 }, {}] }
  step "look" { replies = [{}] }
  agent "junior" { replies = [{ error = { kind = "recoverable", message = "no idea" } }] }
  agent "senior" { replies = [{ output = "done" }] }

  expect = [
    "run.status == 'succeeded'",
    "step.config.status == 'failed' && step.config.escalated == 'told' && step.config.attempts == 2",
    "step.task.agent == 'senior' && step.task.escalated == 'peer' && len(calls.junior) == 2",
    "calls.senior[0].feedback contains 'attempt 2 of agent \"junior\" failed (recoverable, agent): no idea'",
    "step.release.status == 'succeeded' && step.release.iterations == 2 && step.release.escalated == 'mended'",
    "len(calls.look) == 2",
  ]
}
