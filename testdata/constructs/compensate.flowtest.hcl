test "A run that fails undoes what it did, last things first" {
  crash_everywhere = true
  step "flight" { replies = [{ stdout = "booked" }] }

  step "flight/compensate" { replies = [{ exit_code = 0 }] }

  step "tell" { replies = [{ stdout = "sorry" }] }

  step "hotel" { replies = [{ stdout = "booked" }] }

  step "hotel/compensate" { replies = [{ exit_code = 0 }] }

  step "car" { replies = [{ exit_code = 1 }] }

  expect = [
    "run.status == 'failed'",
    "node['flight'].status == 'succeeded'",
    "node['hotel'].status == 'succeeded'",
    "node['car'].status == 'failed'",
    "node['tell'].status == 'succeeded'",
  ]
}
