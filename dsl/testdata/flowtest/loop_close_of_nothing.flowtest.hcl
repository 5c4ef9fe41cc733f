test "one" {
  items = [{ id = "page-1" }]
  close "page-2" {}
  expect = ["loop.done == ['page-1']"]
}
