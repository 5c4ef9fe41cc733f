test "tests that fail twice are repaired twice" {
  crash_everywhere = true
  step "tests" {
    replies = [
      { exit_code = 2, stderr = "TestParse fails", takes = "1m" },
      { exit_code = 2, stderr = "TestPrint fails", takes = "1m" },
      { stdout = "ok", takes = "1m" },
    ]
  }

  agent "fixer" { replies = [{ output = "mended", takes = "10m" }] }

  expect = [
    "run.outputs.rounds == 3 && elapsed == 23 * 60",
    "len(calls.fixer) == 2",
    "calls.fixer[0].with.said contains 'TestParse fails' && calls.fixer[1].with.said contains 'TestPrint fails'",
  ]
}

test "tests that pass ask no agent" {
  step "tests" { replies = [{ stdout = "ok" }] }
  agent "fixer" { replies = [{ output = "mended" }] }

  expect = ["run.outputs.rounds == 1 && len(calls.fixer) == 0"]
}

test "tests that never pass fail the run" {
  step "tests" { replies = [{ exit_code = 1 }] }
  agent "fixer" { replies = [{ output = "mended" }] }

  expect = ["run.status == 'failed' && step.rounds.error.reason == 'limit'", "len(calls.fixer) == 5"]
}
