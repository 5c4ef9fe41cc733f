test "Whatever happened, finally runs, and reads how it went" {
  crash_everywhere = true
  step "work" { replies = [{ exit_code = 1 }] }

  step "remove" { replies = [{ stdout = "removed" }] }

  expect = [
    "run.status == 'failed'",
    "node['work'].status == 'failed'",
    "node['more'].status == 'blocked'",
    "node['note'].status == 'succeeded'",
    "node['remove'].status == 'succeeded'",
  ]
}
