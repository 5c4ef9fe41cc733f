test "A call is a run of its own. Its outputs are the step's; a failure of it is the step's, too" {
  crash_everywhere = true
  step "deploy/go" { replies = [{ exit_code = 3 }] }

  step "report/write/say" { replies = [{ stdout = "targets:" }] }

  expect = [
    "run.status == 'succeeded'",
    "node['targets'].status == 'succeeded'",
    "node['deploy'].status == 'succeeded'",
    "node['deploy[0]'].status == 'succeeded'",
    "node['deploy[1]'].status == 'succeeded'",
    "node['deploy[2]'].status == 'failed'",
    "node['report'].status == 'succeeded'",
  ]
}
