test "A moment that has passed does not wait" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "node['past'].status == 'succeeded'",
    "node['after'].status == 'succeeded'",
  ]
}
