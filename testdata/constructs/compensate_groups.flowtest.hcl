test "Groups, waits and approvals are undone, last things first" {
  crash_everywhere = true
  step "flight" { replies = [{ stdout = "booked" }] }
  step "hotel" { replies = [{ stdout = "booked" }] }
  step "car" { replies = [{ stdout = "here" }] }
  step "fails" { replies = [{ exit_code = 1 }] }
  step "flight/compensate" { replies = [{}] }
  step "trip/compensate" { replies = [{}] }
  step "ok/compensate" { replies = [{}] }
  step "cars/compensate" { replies = [{}] }
  step "pause/compensate" { replies = [{ exit_code = 1 }] }

  expect = [
    "run.status == 'failed' && run.failed == ['half']",
    "len(calls['cars/compensate']) == 2 && len(calls['trip/compensate']) == 1 && len(calls['trip/flight/compensate']) == 1",
    "calls['trip/compensate'][0].command == ['say', '--', 'booked']",
    "node['half'].status == 'failed'",
  ]
}
