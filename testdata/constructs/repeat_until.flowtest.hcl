test "A step is repeated until a condition holds over its result" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "node['ask'].status == 'succeeded'",
  ]
}
