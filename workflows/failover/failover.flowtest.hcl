test "the second agent is asked the same once the first has failed twice" {
  crash_everywhere = true
  inputs           = { text = "guten Tag" }
  agent "first" { replies = [{ error = { kind = "transient", message = "overloaded" } }] }
  agent "second" { replies = [{ output = { text = "good day" } }] }

  expect = [
    "run.outputs == {'text': 'good day', 'degraded': false} && run.degraded == []",
    "step.translate.agent == 'second'",
    "len(calls.first) == 2 && calls.second[0].with == calls.first[0].with && calls.second[0].task == calls.first[0].task",
  ]
}

test "when both fail the text stays as it is, and the run says so" {
  inputs = { text = "guten Tag" }
  agent "first" { replies = [{ error = { kind = "transient", message = "overloaded" } }] }
  agent "second" { replies = [{ error = { kind = "fatal", message = "no account" } }] }

  expect = [
    "run.status == 'succeeded' && step.translate.status == 'failed'",
    "run.outputs == {'text': 'guten Tag', 'degraded': true} && run.degraded == ['translate']",
  ]
}
