test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  gate "ship/fast" {
    replies = [
      { stdout = "ops=5" },
      { measured = 3 },
      { measured = [1, "two"] },
      { measured = [3], error = { kind = "fatal" } },
      { measured = [3], hang = true },
      { exit_code = 1 },
    ]
  }
}
