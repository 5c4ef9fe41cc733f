test "one call when the time is over, with the data" {
  crash_everywhere = true
  inputs           = { url = "https://example.com/hooks/reminder", in = "72h", data = { name = "review", text = "Look at the plan again." } }
  step "hook" { replies = [{ status = 204 }] }

  at "71h" { expect = ["len(calls.hook) == 0 && live == 0"] }

  expect = [
    "run.status == 'succeeded' && len(calls.hook) == 1",
    "calls.hook[0].at == 72 * 3600",
    "calls.hook[0].method == 'POST' && calls.hook[0].body == '{\"name\":\"review\",\"text\":\"Look at the plan again.\"}'",
  ]
}

test "a run that is cancelled calls no webhook" {
  inputs = { url = "https://example.com/hooks/reminder", data = { name = "review", text = "" } }
  step "hook" { replies = [{ status = 204 }] }
  cancel { after = "10m" }

  expect = ["run.status == 'cancelled' && len(calls.hook) == 0"]
}

test "without a url the stand-in gets the data" {
  step "stand_in" { replies = [{ stdout = "" }] }

  expect = [
    "step.hook.status == 'skipped' && calls.stand_in[0].at == 30 * 60",
    "calls.stand_in[0].command[1] == '{\"name\":\"review\",\"text\":\"Look at the plan again.\"}'",
  ]
}
