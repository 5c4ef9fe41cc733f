test "one" {
  dispatch "page-1" {}
  source "dispatch" { replies = [{ status = 503 }, {}] }
  expect = ["loop.done == ['page-1']"]
}
