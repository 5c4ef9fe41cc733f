test "a session is there after 59 minutes and gone after 61" {
  crash_everywhere = true
  workflow         = workflow.day
  step "runs/first/login" { replies = [{ output = { session = "S1" } }] }
  step "runs/third/login" { replies = [{ output = { session = "S3" } }] }

  at "59m30s" { expect = ["kv['sessions/ada'] == 'S1'"] }
  at "60m30s" { expect = ["kv['sessions/ada'] == null"] }

  expect = ["run.outputs.sessions == ['S1', 'S1', 'S3']"]
}

test "a session of another run is taken" {
  workflow = workflow.work
  kv       = { "sessions/ada" = "S0" }
  step "login" { replies = [{ output = { session = "S1" } }] }

  expect = ["run.outputs.session == 'S0' && len(calls.login) == 0"]
}
