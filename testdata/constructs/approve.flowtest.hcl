test "nobody answers in time" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "step.strict.error.reason == 'rejected'",
    "step.kind.output.input.day == 'monday'",
    "node['race/person'].status == 'cancelled'",
    "elapsed == 0.2",
    "len(inbox) == 0",
  ]
  at "10ms" {
    expect = [
      "map(inbox, .node) == ['strict', 'kind', 'race/person']",
      "inbox[0].approvers == ['ann', 'bob'] && inbox[0].show.version == '1.2.0' && inbox[0].until == 0.2",
    ]
  }
}

test "two must approve, and one person has one vote" {
  crash_everywhere = true
  decide "strict" {
    decision = "approve"
    by       = "ann"
  }
  decide "strict" {
    decision = "approve"
    by       = "ann"
    after    = "10ms"
  }
  decide "strict" {
    decision = "approve"
    by       = "joe"
    after    = "20ms"
  }
  decide "strict" {
    decision = "approve"
    by       = "bob"
    comment  = "fine"
    after    = "30ms"
  }
  decide "strict" {
    decision = "reject"
    by       = "bob"
    after    = "40ms"
  }
  decide "kind" {
    decision = "approve"
    by       = "eve"
    input    = { day = "friday" }
    after    = "99ms"
  }
  decide "race/person" {
    decision = "approve"
    after    = "60ms"
  }
  expect = [
    "step.strict.output.by == ['ann', 'bob'] && step.strict.output.comment == 'fine'",
    "step.kind.output.input.day == 'friday'",
    "map(refused_decisions, .why) == ['stranger', 'late', 'late']",
    "elapsed == 0.099",
  ]
}

test "the time is over" {
  crash_everywhere = true
  decide "kind" {
    decision = "reject"
    after    = "100ms"
  }
  decide "kind" {
    decision = "reject"
    shown    = 1
    after    = "1h"
  }
  expect = [
    "step.kind.status == 'succeeded'",
    "map(refused_decisions, .why) == ['late', 'late']",
    "refused_decisions[1].message contains 'no decision within 100ms, so it was approved at'",
  ]
}
