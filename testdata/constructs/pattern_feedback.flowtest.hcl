test "the author hears the gate, or the review, until the work is accepted" {
  crash_everywhere = true

  agent "author" { replies = [{ output = { feedback = try(request.feedback, null), with = try(request.with, null) } }] }
  agent "critic" { replies = [{ output = { with = request.with, say = "round ${request.with.iteration}" } }] }

  expect = [
    "run.status == 'succeeded'",
    "run.outputs.rounds == 3 && run.outputs.heard",
    "run.outputs.never == 'limit'",
    "run.outputs.each == [{'round': 1, 'topic': 'sun', 'all': ['sun', 'wind']}, {'round': 1, 'topic': 'wind', 'all': ['sun', 'wind']}]",
    "calls.author[0].feedback == '' && calls.author[0].with == {'topic': 'rain'} && calls.author[0].task == 'Write.'",
    "calls.author[1].feedback contains 'it heard nothing'",
    "calls.author[2].feedback contains 'round 2'",
    "calls.critic[0].with.with == {'topic': 'rain'} && calls.critic[0].with.iteration == 2 && calls.critic[0].task == 'Review.'",
    "node['draft'].status == 'succeeded' && node['never'].status == 'failed'",
  ]
}
