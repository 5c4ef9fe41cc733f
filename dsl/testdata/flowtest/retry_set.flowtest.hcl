test "one" {
  inputs = { ticket = "T-1" }
  expect = ["runs.second_try.status == 'succeeded'"]
  retry "second_try" {
    set   = { ticket = "T-2" }
    after = "1h"
  }
}
