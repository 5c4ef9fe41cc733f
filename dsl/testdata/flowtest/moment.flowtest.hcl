test "one" {
  inputs = { ticket = "T-1" }
  at "noon" { expect = ["live == 1"] }
}
