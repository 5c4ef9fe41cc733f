test "one" {
  items = [{ id = "page-1" }]
  source "backlg" { replies = [{ status = 503 }, {}] }
  expect = ["loop.done == ['page-1']"]
}
