test "the receiver finds all of it, and the message is sent once" {
  crash_everywhere = true
  agent "sam" {
    replies = [{ output = { summary = "There.", next = "The page.\nFirst the name.", files = ["users.ts"], decisions = ["Zod"], questions = ["1 h or 24 h?"],
      blockers = ["no design"], pr = "https://example.com/pr/7" } }]
  }

  expect = [
    "len(dispatches) == 1 && dispatches[0].id == run.outputs.work && dispatches[0].state == 'open' && dispatches[0].claim == null",
    "dispatches[0].title == 'The page.' && dispatches[0].assignee == 'leo' && dispatches[0].priority == 5",
    "dispatches[0].handoff.to == 'leo' && dispatches[0].handoff.ticket == 'AGT-275' && dispatches[0].handoff.summary == 'There.'",
    "(dispatches[0].handoff.next ?? '') contains 'First the name.' && dispatches[0].handoff.files_changed == ['users.ts']",
    "dispatches[0].handoff.decisions == ['Zod'] && dispatches[0].handoff.open_questions == ['1 h or 24 h?'] && dispatches[0].handoff.blockers == ['no design']",
    "dispatches[0].handoff.acceptance == ['It shows the name.', 'A button edits the profile.'] && dispatches[0].handoff.artifacts == { pr: 'https://example.com/pr/7' }",
    "dispatches[0].handoff.run == run.id && dispatches[0].handoff.node == 'over'",
    "len(notifications) == 1 && notifications[0].title == 'AGT-275 is handed over to leo' && notifications[0].data.id == run.outputs.work",
  ]
}

test "without a next step nothing is handed over, and no message is sent" {
  agent "sam" {
    replies = [{ output = { summary = "There.", next = "", files = [], decisions = [], questions = [], blockers = [], pr = "" } }]
  }

  expect = [
    "run.status == 'failed' && step.over.error.reason == 'evaluation' && step.over.error.message contains 'next'",
    "len(dispatches) == 0 && len(notifications) == 0",
  ]
}

test "the agent that continues has the title of the work as its task" {
  workflow = workflow.go_on
  inputs   = { task = "The page." }
  agent "leo" { replies = [{ output = request.task }] }

  expect = ["step.work.output == 'The page.'"]
}
