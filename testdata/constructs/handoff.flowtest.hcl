test "each hand-over makes its work and its message once, and the receiver finds all of it" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "len(dispatches) == 6 && len(tickets) == 0 && len(claims) == 0",
    "dispatches[0].id == run.outputs.id && dispatches[0].state == 'open' && dispatches[0].priority == 5",
    "dispatches[0].title == 'Make the page that shows a profile.' && dispatches[0].assignee == 'leo'",
    "dispatches[0].handoff.ticket == 'AGT-275' && dispatches[0].handoff.next contains 'Begin with the name.'",
    "dispatches[0].handoff.files_changed == ['users.ts', 'schema.ts'] && dispatches[0].handoff.blockers == ['The design is not there yet']",
    "dispatches[0].handoff.decisions == ['Zod checks the input'] && dispatches[0].handoff.open_questions == ['Does the cache live for 1 h or for 24 h?']",
    "dispatches[0].handoff.acceptance == ['The page shows the name', 'A button edits the profile'] && dispatches[0].handoff.artifacts == { pr: 'https://example.com/pr/7' }",
    "dispatches[0].handoff.node == 'over' && dispatches[0].handoff.run == run.id && dispatches[0].claim == null",
    "map(dispatches[1:3], #.assignee) == ['ann', 'bob'] && dispatches[1].handoff.acceptance == []",
    "dispatches[3].assignee == 'dee' && dispatches[3].agents == null && dispatches[5].assignee == 'dee'",
    "dispatches[4].assignee == null && dispatches[4].agents == ['cal', 'dee'] && dispatches[4].handoff.to == 'writers'",
    "run.outputs.no_member == 'no_member'",
    "len(notifications) == 1 && notifications[0].kind == 'handoff' && notifications[0].title == 'AGT-275 is handed over to leo'",
    "notifications[0].data.id == run.outputs.id && notifications[0].data.handoff.summary == 'The endpoint for profiles is there.'",
    "run.outputs.nobody == ['blocking', 'evaluation']",
    "elapsed == 0",
  ]
}
