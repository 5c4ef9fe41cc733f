test "one" {
  inputs = { ticket = "T-1" }
  expect = ["runs.second_try.status == 'succeeded'"]
  retry "second_try" {
    from  = "biuld/api"
    after = "1h"
  }
}
