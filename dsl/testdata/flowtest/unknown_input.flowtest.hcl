test "one" {
  inputs = { ticket = "T-1", siez = 3 }
  expect = ["run.status == 'succeeded'"]
}
