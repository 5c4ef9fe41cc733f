test "the next attempt starts at the moment that the answer named" {
  crash_everywhere = true
  inputs           = { url = "https://api.example.com/report" }
  step "ask" { replies = [{ error = { kind = "rate_limited", retry_after = 1200 } }, { output = "the report" }] }

  at "19m" { expect = ["live == 0 && len(calls.ask) == 1 && run.status == 'waiting'"] }

  # The answer 429 was no attempt: the second call is the first attempt, with its key.
  expect = [
    "run.outputs.report == 'the report'",
    "calls.ask[1].at == 1200 && len(calls.ask) == 2",
    "step.ask.attempts == 1 && calls.ask[1].attempt == 1 && calls.ask[1].key == calls.ask[0].key",
  ]
}

test "a driver that is away meanwhile changes nothing" {
  inputs = { url = "https://api.example.com/report" }
  step "ask" { replies = [{ error = { kind = "rate_limited", status = 429, retry_after = 1200 } }, { output = "the report" }] }

  down {
    after = "5m"
    for   = "10m"
  }

  expect = ["calls.ask[1].at == 1200"]
}
