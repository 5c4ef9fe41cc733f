test "No case and no default: the switch has nothing to say, and what follows runs" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "node['kind'].status == 'succeeded'",
    "node['kind/a'].status == 'skipped'",
    "node['after'].status == 'succeeded'",
  ]
}
