test "a consensus and a competition are repeated until their conditions hold" {
  crash_everywhere = true
  expect = [
    "run.outputs.agree == ['yes', 3]",
    "run.outputs.best == ['bo', 2, 2]",
    "calls.ann[1].with.before == {'no': 1, 'yes': 1}",
  ]
}
