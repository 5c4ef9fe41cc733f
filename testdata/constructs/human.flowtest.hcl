test "nobody does the task in time" {
  crash_everywhere = true
  agent "stand_in" {
    replies = [{ output = { label = "dog" } }]
  }
  expect = [
    "run.status == 'succeeded'",
    "step.picture.agent == 'stand_in' && step.picture.output.label == 'dog'",
    "step.chosen.output == 'timeout'",
    "elapsed == 0.1",
  ]
}

test "people do their tasks" {
  crash_everywhere = true
  decide "picture" {
    decision = "done"
    by       = "ann"
    output   = { name = "cat" }
  }
  decide "picture" {
    decision = "done"
    by       = "ann"
    output   = { label = "cat" }
    after    = "10ms"
  }
  decide "chosen" {
    decision = "fail"
    comment  = "no idea"
    after    = "20ms"
  }
  expect = [
    "step.picture.agent == 'ann' && step.picture.output.label == 'cat'",
    "step.chosen.output == 'agent' && step.chosen.error == null || step.chosen.error.message == 'no idea'",
    "map(refused_decisions, .why) == ['misfit']",
    "elapsed == 0.02",
  ]
}
