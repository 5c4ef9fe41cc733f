test "one" {
  expect = ["runs.a.status == 'succeeded'"]
  start "a" { workflow = workflow.chlid }
}
