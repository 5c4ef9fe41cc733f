test "one" {
  expect = ["run.status == 'succeeded'"]
}
