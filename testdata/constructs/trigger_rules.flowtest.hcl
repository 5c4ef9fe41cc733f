test "Each rule over one success, one failure and one skip" {
  crash_everywhere = true
  step "good" { replies = [{ stdout = "yes" }] }

  step "bad" { replies = [{ exit_code = 1 }] }

  step "one-failed" { replies = [{ stdout = "ran" }] }

  step "one-failed-not" { replies = [{ stdout = "ran" }] }

  step "all-failed" { replies = [{ stdout = "ran" }] }

  step "all-done" { replies = [{ stdout = "ran" }] }

  step "always" { replies = [{ stdout = "ran" }] }

  step "none-failed" { replies = [{ stdout = "ran" }] }

  step "one-success" { replies = [{ stdout = "ran" }] }

  expect = [
    "run.status == 'failed'",
    "node['good'].status == 'succeeded'",
    "node['bad'].status == 'failed'",
    "node['never'].status == 'skipped'",
    "node['none-failed'].status == 'succeeded'",
    "node['none-failed-blocked'].status == 'blocked'",
    "node['all-success'].status == 'skipped'",
    "node['all-failed'].status == 'succeeded'",
    "node['all-done'].status == 'succeeded'",
    "node['one-success'].status == 'succeeded'",
    "node['one-failed'].status == 'succeeded'",
    "node['one-failed-not'].status == 'skipped'",
    "node['always'].status == 'succeeded'",
  ]
}
