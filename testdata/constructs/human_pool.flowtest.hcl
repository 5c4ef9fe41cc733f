test "people are asked while the only slot is taken" {
  crash_everywhere = true
  step "slow" { replies = [{ takes = "300ms" }] }
  step "after" { replies = [{ stdout = "told" }] }

  decide "pictures[0]" {
    decision = "done"
    output   = "yes"
    after    = "50ms"
  }

  at "20ms" { expect = ["len(inbox) == 2 && live == 1"] }
  expect = [
    "run.status == 'succeeded'",
    "run.outputs.pictures == ['yes', 'timeout']",
    "run.outputs.agents == ['ann', 'ann']",
    "elapsed == 0.3",
  ]
}
