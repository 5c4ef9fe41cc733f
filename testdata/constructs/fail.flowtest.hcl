test "A step that fails on purpose; what observes it goes on" {
  crash_everywhere = true
  expect = [
    "run.status == 'failed'",
    "node['refuse'].status == 'failed'",
    "node['explain'].status == 'succeeded'",
  ]
}
