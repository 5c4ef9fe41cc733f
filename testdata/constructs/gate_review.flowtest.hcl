test "What a judge, a scanner and a scan say decides" {
  crash_everywhere = true

  agent "author" { replies = [{ output = { text = "a text" } }] }

  agent "critic" {
    replies = [
      { output = { scores = { clarity = 0.8 }, findings = [] }, takes = "1m" },
      { output = { scores = { clarity = 0.8 }, findings = [{ severity = "medium", message = "no end" }] } },
      { output = "well done" },
    ]
  }

  gate "nothing_found/scanned" { replies = [{ stdout = "[]", exit_code = 2 }] }
  gate "found/scanned" { replies = [{ stdout = "{\"findings\":[{\"severity\":\"high\",\"message\":\"a leak\"}]}" }] }
  gate "unread/scanned" { replies = [{ stdout = "2 leaks" }] }

  expect = [
    "step.good.status == 'succeeded'",
    "step.unclear.error.message contains 'medium: no end'",
    "step.silent.error.gate == 'clear' && step.silent.error.kind == 'recoverable'",
    "calls.critic[0].with.criteria.clarity == 0.7 && calls.critic[0].with.result.output.text == 'a text'",
    "max_at_once.critic == 1",
    "step.nothing_found.status == 'succeeded'",
    "step.found.error.message contains 'high: a leak'",
    "step.unread.error.message contains 'cannot be read as json'",
    "step.orders.error.message contains 'an order to ignore instructions (output.note:1)'",
    "step.harmless.status == 'succeeded'",
    "run.usage.attempts == 9",
  ]
}

test "A judge that cannot judge passes nothing, and a gate can be a stub of its own" {
  crash_everywhere = true
  run_for          = "1h"

  agent "author" { replies = [{ output = { text = "a text" } }] }
  gate "clear" { replies = [{ error = { kind = "fatal", message = "no model" } }] }
  gate "nothing_found/scanned" { replies = [{ stdout = "[]" }] }
  gate "unread/scanned" { replies = [{ stdout = "[]" }] }
  gate "found/scanned" { replies = [{ hang = true }] }

  expect = [
    "all([step.good, step.unclear, step.silent], #.error.message contains 'agent \"critic\", who judges, failed: no model')",
    "step.found.status == 'pending' && live == 1",
  ]
}
