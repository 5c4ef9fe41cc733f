test "the implementer hears the reviewer, a person approves, and the change ships" {
  crash_everywhere = true

  agent "planner" { replies = [{ output = { steps = ["one"] } }] }
  agent "implementer" { replies = [{ output = { change = "draft" } }, { output = { change = "better" } }] }

  agent "reviewer" {
    replies = [
      { output = { findings = [{ severity = "high", message = "A test is missing." }] } },
      { output = { findings = [{ severity = "low", message = "A comma is missing." }] } },
    ]
  }

  agent "shipper" { replies = [{ output = { version = "1.1.0" } }] }

  decide "ok" {
    decision = "approve"
    by       = "ann"
    after    = "2d"
  }

  at "1d" { expect = ["run.status == 'waiting' && live == 0 && len(inbox) == 1 && inbox[0].show.change == 'better'"] }

  expect = [
    "run.outputs == {'change': 'better', 'rounds': 1, 'shipped': '1.1.0'}",
    "calls.implementer[1].feedback contains 'A test is missing.'",
    "calls.shipper[0].with.approved_by == ['ann']",
  ]
}

test "a person asks for a revision: the plan stays, the implementer hears the comment, and the person decides again" {
  crash_everywhere = true

  agent "planner" { replies = [{ output = { steps = ["one"] } }] }
  agent "implementer" { replies = [{ output = { change = "draft" } }, { output = { change = "shorter" } }] }
  agent "reviewer" { replies = [{ output = { findings = [] } }] }
  agent "shipper" { replies = [{ output = { version = "1.1.0" } }] }

  decide "ok" {
    decision = "revise"
    comment  = "Too long."
    after    = "1h"
  }

  decide "ok" {
    decision = "approve"
    after    = "2h"
  }

  expect = [
    "run.outputs == {'change': 'shorter', 'rounds': 2, 'shipped': '1.1.0'}",
    "len(calls.planner) == 1 && map(calls.implementer, .feedback) == ['', 'Too long.']",
    "len(calls.reviewer) == 2",
  ]
}

test "a person rejects the change, and nothing ships" {
  agent "planner" { replies = [{ output = { steps = ["one"] } }] }
  agent "implementer" { replies = [{ output = { change = "draft" } }] }
  agent "reviewer" { replies = [{ output = { findings = [] } }] }

  decide "ok" {
    decision = "reject"
    comment  = "Not now."
  }

  expect = ["run.status == 'failed' && step.ok.error.message == 'Not now.'", "step.ship.status == 'blocked'"]
}

test "no person answers within a week, and nothing ships" {
  agent "planner" { replies = [{ output = { steps = ["one"] } }] }
  agent "implementer" { replies = [{ output = { change = "draft" } }] }
  agent "reviewer" { replies = [{ output = { findings = [] } }] }

  expect = ["run.status == 'failed' && step.ok.error.reason == 'rejected' && elapsed == 7 * 24 * 3600"]
}

test "a change that the reviewer never accepts is never shown to a person" {
  agent "planner" { replies = [{ output = { steps = ["one"] } }] }
  agent "implementer" { replies = [{ output = { change = "draft" } }] }
  agent "reviewer" { replies = [{ output = { findings = [{ severity = "high", message = "No." }] } }] }

  expect = ["run.status == 'failed' && len(calls.implementer) == 3 && step.ok.status == 'blocked'"]
}
