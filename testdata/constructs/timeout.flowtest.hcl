test "An attempt that takes too long is tried again; a group that does fails" {
  crash_everywhere = true
  step "attempt" { replies = [{ takes = "60s" }] }

  step "group/a" { replies = [{ takes = "60s" }] }

  expect = [
    "run.status == 'failed'",
    "node['attempt'].status == 'failed'",
    "node['group'].status == 'failed'",
    "node['group/a'].status == 'cancelled'",
    "node['group/b'].status == 'cancelled'",
  ]
}
