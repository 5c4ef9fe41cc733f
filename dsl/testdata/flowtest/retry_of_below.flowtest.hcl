test "one" {
  expect = ["runs.second_try.status == 'succeeded'"]
  retry "second_try" {
    of    = "second"
    after = "1h"
  }
  start "first" { inputs = { ticket = "T-1" } }
  start "second" { inputs = { ticket = "T-2" } }
}
