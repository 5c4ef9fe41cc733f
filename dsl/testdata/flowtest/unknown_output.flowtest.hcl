test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.outputs.scoer == 3"]
}
