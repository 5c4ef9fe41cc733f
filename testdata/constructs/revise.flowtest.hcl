test "nobody answers" {
  crash_everywhere = true
  agent "author" { replies = [{ output = { feedback = try(request.feedback, null) } }] }
  expect = [
    "run.status == 'succeeded'",
    "run.outputs.published[1] == 1 && run.outputs.published[2] == 'monday' && run.outputs.rounds == 1",
    "run.outputs.boss == 'failed' && step.boss.error.reason == 'rejected'",
    "elapsed == 0.4",
  ]
}

test "two revisions, and an approval" {
  crash_everywhere = true
  agent "author" { replies = [{ output = { feedback = try(request.feedback, null) } }] }
  decide "ok" {
    decision = "revise"
    comment  = "shorter"
  }
  decide "ok" {
    decision = "revise"
    comment  = "longer"
    after    = "10ms"
  }
  decide "ok" {
    decision = "approve"
    input    = { day = "friday" }
    after    = "20ms"
  }
  decide "legal" {
    decision = "revise"
    comment  = "no names"
  }
  decide "legal" {
    decision = "revise"
    comment  = "no places"
    after    = "10ms"
  }
  decide "legal" {
    decision = "approve"
    after    = "20ms"
  }
  decide "boss" {
    decision = "revise"
    comment  = "no verbs"
  }
  decide "boss" {
    decision = "revise"
    comment  = "no nouns"
    after    = "101ms"
  }
  decide "boss" {
    decision = "approve"
    after    = "110ms"
  }
  expect = [
    "run.status == 'succeeded'",
    "run.outputs.published == ['longer', 3, 'friday'] && run.outputs.rounds == 3",
    "map(notifications, .kind) == ['approval', 'approval', 'approval'] && notifications[1].node == 'ship/ok_rounds/i2/ok'",
    "notifications[0].text == 'Good?' && notifications[0].data.show.feedback == null && notifications[1].data.show.feedback == 'shorter'",
    "notifications[0].decide matches '^flowrun decide [a-z0-9]+ ship/ok_rounds/i1/ok approve[|]reject[|]revise --shown [0-9a-f]+$'",
    "map(calls.author, .feedback) == ['', 'shorter', 'longer', '', 'no names', 'no verbs']",
    "run.outputs.ship == ['count', 'ok', 'plan', 'publish', 'write']",
    "run.outputs.boss == 'approved'",
    "map(refused_decisions, .why) == ['bad_word', 'bad_word']",
    "refused_decisions[0].message contains 'waits for approve, reject'",
  ]
}

test "a rejection ends the rounds" {
  crash_everywhere = true
  agent "author" { replies = [{ output = { feedback = try(request.feedback, null) } }] }
  decide "ok" {
    decision = "revise"
    comment  = " "
  }
  decide "ok" {
    decision = "reject"
    comment  = "no"
    after    = "10ms"
  }
  expect = [
    "run.status == 'failed'",
    "node['ship/ok_rounds'].status == 'failed'",
    "step.ok.error.message == 'no'",
    "refused_decisions[0].message contains 'needs a comment'",
    "step.publish.status == 'blocked'",
  ]
}

test "a round that fails ends the rounds" {
  crash_everywhere = true
  agent "author" { replies = [{ output = 1 }, { error = { kind = "fatal" } }] }
  decide "ok" {
    decision = "revise"
    comment  = "shorter"
  }
  expect = [
    "run.status == 'failed'",
    "len(calls.author) == 2 && step.ok.status == 'blocked'",
    "node['ship/ok_rounds'].status == 'failed'",
  ]
}
