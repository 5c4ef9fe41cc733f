test "the author mends what each gate refused" {
  crash_everywhere = true
  inputs           = { task = "Speed up the parser." }

  agent "author" { replies = [{ output = { seconds = 1 }, takes = "5m" }, { output = { seconds = 3 } }, { output = { seconds = 2 } }] }
  gate "tests_pass" { replies = [{ exit_code = 2, stdout = "TestParse fails" }, { exit_code = 0 }] }
  gate "no_vulnerabilities" { replies = [{ exit_code = 0 }] }

  expect = [
    "run.outputs.seconds == 2",
    "calls.author[1].feedback contains 'TestParse fails'",
    "calls.author[2].feedback contains '3 s is too slow'",
  ]
}

test "one criterion of three that never holds blocks the work, and is named" {
  inputs = { task = "Speed up the parser." }

  agent "author" { replies = [{ output = { seconds = 1 } }] }
  gate "tests_pass" { replies = [{ exit_code = 0 }] }
  gate "no_vulnerabilities" { replies = [{ exit_code = 1 }] }

  expect = [
    "run.status == 'failed' && step.write.attempts == 3",
    "step.write.error.gate == 'no_vulnerabilities'",
    "run.error.message contains 'the scanner has found a vulnerability'",
  ]
}
