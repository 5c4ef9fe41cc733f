test "one" {
  inputs = { ticket = "T-1" }
}
