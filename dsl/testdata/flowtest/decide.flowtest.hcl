test "wrong decisions" {
  inputs = { ticket = "T-1" }
  decide "shipp" { decision = "approve" }
  decide "ship" { decision = "aprove" }
  decide "." { decision = "continue" }
  decide "ship/." { decision = "stop" }
  expect = ["inbox[0].nodes == 'a'", "refused_decisions[0].why == 'late'", "step.ship.status == 'succeeded'"]
}
