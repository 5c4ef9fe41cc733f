test "for_each lies outside, repeat inside" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "node['ask'].status == 'succeeded'",
    "node['ask[0]'].status == 'succeeded'",
    "node['ask[1]'].status == 'succeeded'",
  ]
}
