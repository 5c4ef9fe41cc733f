test "A failure that stops cancels what runs around it; what was cancelled decides nothing, the failure does" {
  crash_everywhere = true
  step "elsewhere" { replies = [{ takes = "1s" }] }

  step "checks/slow" { replies = [{ takes = "60s" }] }

  step "checks/fatal" { replies = [{ exit_code = 1 }] }

  expect = [
    "run.status == 'failed'",
    "node['checks'].status == 'failed'",
    "node['checks/slow'].status == 'cancelled'",
    "node['checks/fatal'].status == 'failed'",
    "node['elsewhere'].status == 'succeeded'",
    "node['after'].status == 'blocked'",
  ]
}
