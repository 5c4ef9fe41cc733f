test "now is the time of the event for which an expression is evaluated: a run that is resumed reads the same" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "step.before.output == '2026-01-05T08:00:00.000Z'",
    "step.after.output == '2026-01-05T08:00:00.020Z'",
    "run.outputs.later",
  ]
}
