test "vote counts votes by a rule: a null abstains, and the decision is null where no option has enough" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "node['count'].status == 'succeeded'",
    "node['score'].status == 'succeeded'",
    "node['best'].status == 'succeeded'",
  ]
}
