test "one" {
  inputs = { ticket = "T-1" }
  expect = ["run.status == 'succeeded'"]
  emit "order.paid" { forge = true }
}
