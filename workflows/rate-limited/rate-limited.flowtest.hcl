test "the next attempt starts at the moment that the answer named" {
  crash_everywhere = true
  step "ask" { replies = [{ error = { kind = "rate_limited", retry_after = 1200 } }, { output = "the report" }] }

  at "19m" { expect = ["live == 0 && len(calls.ask) == 1"] }

  expect = ["run.outputs.report == 'the report'", "calls.ask[1].at == 1200"]
}

test "a driver that is away meanwhile changes nothing" {
  step "ask" { replies = [{ error = { kind = "rate_limited", status = 429, retry_after = 1200 } }, { output = "the report" }] }

  down {
    after = "5m"
    for   = "10m"
  }

  expect = ["calls.ask[1].at == 1200"]
}
