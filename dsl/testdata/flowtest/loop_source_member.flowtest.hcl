test "one" {
  items = [{ id = "page-1" }]
  source "backlog" { replies = [{ usage = { tokens = 1 } }, {}] }
  expect = ["loop.done == ['page-1']"]
}
