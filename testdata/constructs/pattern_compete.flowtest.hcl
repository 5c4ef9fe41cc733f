test "the highest score wins, or the first success, or nobody" {
  crash_everywhere = true

  agent "ann" { replies = [{ output = { with = try(request.with, null) } }] }
  agent "bo" { replies = [{ output = { with = try(request.with, null) } }] }
  step "nobody_ann" { replies = [{ error = { message = "it is down" } }] }
  step "nobody_bo" { replies = [{ error = { message = "it is down" } }] }
  agent "silent" { replies = [{ output = { with = null } }] }

  expect = [
    "run.status == 'succeeded'",
    "run.outputs.best == ['bo', 'best'] && run.outputs.first == ['ann', 'first']",
    "run.outputs.each == {'a': ['ann', 'ann'], 'b': ['bo', 'bo']}",
    "run.outputs.nobody == ['recoverable', 'join']",
  ]
}
