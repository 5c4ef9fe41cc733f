test "the group is made again until its gate passes" {
  crash_everywhere = true
  agent "worker" {
    replies = [{ output = { feedback = try(request.feedback, "") } }]
  }

  gate "program" {
    replies = [{ exit_code = 1 }]
  }

  expect = [
    "run.status == 'succeeded'",
    "run.outputs.rounds == 2",
    "run.outputs.heard contains 'say why'",
  ]
}
