test "The first figure of a benchmark is its baseline, and a figure that is too far above it does not pass" {
  crash_everywhere = true
  workflow         = workflow.measured
  gate "first/speed" { replies = [{ measured = [100, 300, 90] }] }
  gate "close/speed" { replies = [{ measured = [109, 111], takes = "1m" }] }
  gate "slow/speed" { replies = [{ measured = [130] }] }
  gate "silent/speed" { replies = [{ measured = [] }] }

  expect = [
    "step.first.status == 'succeeded' && step.close.status == 'succeeded'",
    "step.slow.error.gate == 'speed' && step.slow.error.message contains 'ops is 130, and at most 110 passes'",
    "step.silent.error.reason == 'gate' && step.silent.error.message contains 'there is no sample of ops'",
  ]
}

test "A program that fails passes nothing, and leaves no baseline" {
  crash_everywhere = true
  gate "first/speed" { replies = [{ exit_code = 1 }] }
  gate "close/speed" { replies = [{ measured = [110] }] }
  gate "slow/speed" { replies = [{ measured = [130] }] }
  gate "silent/speed" { replies = [{ measured = [] }] }

  expect = ["step.first.error.gate == 'speed' && step.close.status == 'blocked' && run.status == 'failed'"]
}

test "The next run is compared with the baseline of the one before" {
  crash_everywhere = true
  start "before" {}
  start "after" { after = "1h" }
  gate "first/speed" { replies = [{ measured = [100] }, { measured = [111] }] }
  gate "close/speed" { replies = [{ measured = [110] }] }
  gate "slow/speed" { replies = [{ measured = [130] }] }
  gate "silent/speed" { replies = [{ measured = [] }] }

  expect = ["runs.before.step.first.status == 'succeeded'", "runs.after.step.first.error.message contains 'ops is 111, and at most 110 passes'"]
}
