test "What must hold before a node starts, with a word where it does not" {
  crash_everywhere = true
  expect = [
    "run.status == 'failed'",
    "node['deploy'].status == 'failed'",
  ]
}
