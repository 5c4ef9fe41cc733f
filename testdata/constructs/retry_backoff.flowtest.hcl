test "Attempts follow after their backoff, which doubles" {
  crash_everywhere = true
  step "flaky" { replies = [{ exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { stdout = "" }] }

  expect = [
    "run.status == 'succeeded'",
    "node['flaky'].status == 'succeeded'",
  ]
}
