test "work that is refused twice is accepted in the third round, and the author heard why each time" {
  crash_everywhere = true
  inputs           = { task = "Write the release notes." }

  agent "author" { replies = [{ output = "draft ${request.iteration}", takes = "10m" }] }

  agent "reviewer" {
    replies = [
      { output = { accepted = false, words = "Too long." }, takes = "2m" },
      { output = { accepted = false, words = "The date is missing." }, takes = "2m" },
      { output = { accepted = true, words = "" }, takes = "2m" },
    ]
  }

  expect = [
    "run.outputs == {'verdict': 'accepted', 'work': 'draft 3', 'rounds': 3}",
    "calls.author[1].feedback contains 'Too long.'",
    "calls.author[2].feedback contains 'The date is missing.'",
    "calls.reviewer[2].with.product == 'draft 3'",
    "elapsed == 36 * 60",
  ]
}

test "work that is never accepted ends after three rounds with a verdict" {
  inputs = { task = "Write the release notes." }

  agent "author" { replies = [{ output = "draft" }] }
  agent "reviewer" { replies = [{ output = { accepted = false, words = "No." } }] }

  expect = [
    "run.status == 'succeeded' && run.outputs.verdict == 'not_accepted'",
    "step.draft.error.reason == 'limit'",
    "len(calls.author) == 3",
    "len(notifications) == 1 && notifications[0].channel == 'editor' && notifications[0].error.reason == 'limit'",
  ]
}
