test "the report has the figures" {
  step "format" { replies = [{ stdout = "431\n" }] }
  step "vet" { replies = [{ takes = "1m" }] }
  step "test" { replies = [{ output = { percent = 91.5, packages = 60, again = [] }, takes = "8m" }] }
  step "build" { replies = [{ output = { bytes = 30000000, mib = 28.6 } }] }

  expect = [
    "run.outputs.again == ''",
    "run.outputs.report == '431 files in 60 packages, 91.5% covered, 28.6 MiB'",
    "step.report.output.seconds == 480",
    "calls.vet[0].command == ['go', 'vet', './dsl/...']",
  ]
}

test "too little coverage is refused, and all else is told" {
  vars = { min_coverage = 95 }
  step "format" { replies = [{ stdout = "431" }] }
  step "vet" { replies = [{ exit_code = 0 }] }
  step "test" { replies = [{ output = { percent = 91.5, packages = 60, again = [] } }] }
  step "build" { replies = [{ output = { bytes = 30000000, mib = 28.6 } }] }

  expect = [
    "run.status == 'failed'",
    "step.test.error.message contains '91.5% of the statements, less than 95%'",
    "step.build.status == 'succeeded'",
    "step.report.status == 'blocked'",
  ]
}
