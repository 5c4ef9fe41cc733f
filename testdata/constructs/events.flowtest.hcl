test "each event is published once, and every wait gets it" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "run.outputs.shipped == 'B'",
    "run.outputs.booked == [11, 12]",
    "run.outputs.duplicate",
    "run.outputs.never == ['transient', 'timeout']",
    "step.ship.iterations == 2",
    "any(run.warnings, # contains 'because its data is not of the declared type')",
    "elapsed == 0.5",
  ]
}
