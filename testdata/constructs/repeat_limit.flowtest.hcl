test "A repeat that never gets there fails with the reason limit" {
  crash_everywhere = true
  expect = [
    "run.status == 'failed'",
    "node['ask'].status == 'failed'",
    "node['after'].status == 'blocked'",
  ]
}
