test "one" {
  inputs = { ticket = "T-1" }
  expect = ["node['build/app'].status == 'succeeded'"]
}
