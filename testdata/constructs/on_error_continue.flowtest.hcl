test "A failure that is tolerated stays visible, and what depends on it runs with null in its place" {
  crash_everywhere = true
  step "flaky" { replies = [{ exit_code = 3 }] }

  expect = [
    "run.status == 'succeeded'",
    "node['flaky'].status == 'failed'",
    "node['after'].status == 'succeeded'",
  ]
}
