test "A group is repeated; its nodes see the iteration before through last" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "node['round'].status == 'succeeded'",
  ]
}
