test "one" {
  items = [{ id = "a", labels = ["ask"] }]
  decide "item:asked[a]/allow" { decision = "approve" }
  expect = ["run.status == 'succeeded'", "loop.done == ['a']"]
}
