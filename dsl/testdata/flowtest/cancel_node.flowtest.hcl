test "one" {
  expect = ["run.status == 'failed'"]
  inputs = { ticket = "T-1" }
  cancel {
    after = "1m"
    node  = "bild"
  }
  cancel {
    after = "2m"
    by    = "ann"
  }
}
