test "six suites run after the preparation" {
  step "prepare" { replies = [{ stdout = "6" }] }
  step "suite" { replies = [{ stdout = "suite", takes = "4s" }] }

  expect = [
    "run.outputs.done == '6 suites'",
    "before('prepare', 'suites')",
    "elapsed == 4",
  ]
}
