test "votes decide, a tie breaker decides, or nothing is decided" {
  crash_everywhere = true

  agent "ann" {
    replies = [
      { output = { with = try(request.with, null) } },
      { output = { with = try(request.with, null) } },
      { output = { with = try(request.with, null) } },
      { output = { with = try(request.with, null) } },
      { output = { with = try(request.with, null) } },
      { error = { message = "it is down" } },
    ]
  }

  agent "bo" {
    replies = [
      { output = { with = try(request.with, null) } },
      { output = { with = try(request.with, null) } },
      { output = { with = try(request.with, null) } },
      { output = { with = try(request.with, null) } },
      { output = { with = try(request.with, null) } },
      { error = { message = "it is down" } },
    ]
  }

  agent "c-y" { replies = [{ output = { with = try(request.with, null) } }] }
  agent "silent" { replies = [{ output = { with = null } }] }

  expect = [
    "run.status == 'succeeded'",
    "run.outputs.most == 'first'",
    "run.outputs.weighted.decision == true && run.outputs.weighted.tally == {'true': 0.7, 'false': 0.2}",
    "run.outputs.weighted.abstained == ['silent'] && run.outputs.weighted.cast == 3",
    "run.outputs.each == ['ann', 'ann']",
    "run.outputs.nothing == ['blocking', 'undecided', 'nothing is decided (majority): 2 of 3 voted, {\"ann\":1,\"bo\":1}']",
    "run.outputs.few == false",
    "step.most.output.votes == {'ann': 'first', 'bo': 'second', 'c-y': 'first'}",
    "calls['c-y'][2].with.with.of in ['one', 'two'] && calls['c-y'][2].with.tally == {'ann': 1, 'bo': 1}",
  ]
}
