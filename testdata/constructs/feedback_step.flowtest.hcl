test "each round hears what the review of the one before found" {
  crash_everywhere = true
  agent "worker" {
    replies = [{ output = { feedback = try(request.feedback, "nothing") } }]
  }

  expect = [
    "run.status == 'succeeded'",
    "node['rounds'].status == 'succeeded'",
    "run.outputs.heard == '{\"ok\":false,\"say\":\"round 1\"}'",
  ]
}
