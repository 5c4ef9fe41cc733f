# Tests of checks.flow.hcl. They run in virtual time and start nothing: the stubs answer in place of the steps.
#
#   flowrun test                          runs them
#   flowrun explain test                  tells what a test can say

test "large files are reported" {
  step "conflicts" { replies = [{ output = [] }] }
  step "large" { replies = [{ output = ["./film.mp4"], takes = "3s" }] }
  step "count" { replies = [{ output = 12 }] }
  step "warn" { replies = [{ stdout = "large: ./film.mp4" }] }

  expect = [
    "run.outputs.report == '12 files, 1 of them larger than 1024 KiB'",
    "calls.warn[0].command == ['echo', 'large:', './film.mp4']",
    "before('large', 'warn') && elapsed == 3",
  ]
}

test "a conflict fails the run" {
  step "conflicts" { replies = [{ output = ["./main.go"] }] }
  step "large" { replies = [{ output = [] }] }
  step "count" { replies = [{ output = 12 }] }

  expect = [
    "run.status == 'failed'",
    "step.conflicts.error.message contains 'found in ./main.go'",
    "step.warn.status == 'skipped'",
  ]
}
