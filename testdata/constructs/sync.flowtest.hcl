test "all parties go on once each is ready, and one of them is the last" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "run.outputs.publishes == ['ui']",
    "run.outputs.checked_in == ['api', 'ui']",
    "run.outputs.blocked == 'timeout'",
    "run.outputs.refused == ['blocking', 'store']",
    "elapsed == 0.5",
  ]
}
