test "A group may say what its output is, and who won: here the best of two answers that are scored" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded'",
    "node['best'].status == 'succeeded'",
    "node['best/best_answers'].status == 'succeeded'",
    "node['best/best_answers/quick'].status == 'succeeded'",
    "node['best/best_answers/thorough'].status == 'succeeded'",
    "node['numbers'].status == 'succeeded'",
    "node['numbers[0]'].status == 'succeeded'",
    "node['numbers[1]'].status == 'succeeded'",
    "node['numbers[2]'].status == 'succeeded'",
  ]
}
