test "An output that does not fit its schema is refused" {
  crash_everywhere = true
  expect = [
    "run.status == 'failed'",
    "node['good'].status == 'succeeded'",
    "node['bad'].status == 'failed'",
  ]
}
