test "A run that ends early, and well" {
  crash_everywhere = true
  step "slow" { replies = [{ takes = "60s" }] }

  step "found" { replies = [{ takes = "1s" }] }

  expect = [
    "run.status == 'succeeded'",
    "node['slow'].status == 'cancelled'",
    "node['found'].status == 'succeeded'",
    "node['stop'].status == 'succeeded'",
  ]
}
