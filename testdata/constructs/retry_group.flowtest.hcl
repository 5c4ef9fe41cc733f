test "What a group says of retries holds for the steps in it; the nearest word wins" {
  crash_everywhere = true
  step "all/three" { replies = [{ exit_code = 1 }, { exit_code = 1 }, { stdout = "" }] }

  step "all/one" { replies = [{ exit_code = 1 }, { stdout = "" }] }

  expect = [
    "run.status == 'failed'",
    "node['all'].status == 'failed'",
    "node['all/three'].status == 'succeeded'",
    "node['all/one'].status == 'failed'",
  ]
}
