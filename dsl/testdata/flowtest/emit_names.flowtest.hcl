test "events and parties have names" {
  inputs = { ticket = "T-1" }
  emit "Build Done" {
    run = "other"
  }
  check_in "release" {
    as = ""
  }
  check_in "release" {}
  expect = ["len(events) == 0 && events[0].size > 1"]
}
