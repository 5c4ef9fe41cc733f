test "a figure" {
  workflow = workflow.measured
  expect = [
    "step.first.status == 'succeeded' && step.close.status == 'succeeded'",
    "step.slow.error.gate == 'speed' && step.slow.error.message contains '130' && step.slow.error.message contains 'at most 110'",
    "step.silent.error.reason == 'gate'",
  ]
  gate "first/speed" { replies = [{ measured = [100, 300, 90] }] }
  gate "close/speed" { replies = [{ measured = [109, 111] }] }
  gate "slow/speed" { replies = [{ measured = [130] }] }
  gate "silent/speed" { replies = [{ measured = [] }] }
}
