test "each delivery starts one run" {
  workflow         = workflow.listen
  crash_everywhere = true
  emit "webhook.shop" {
    after = "1h"
    key   = "d-1"
    data  = { body = { id = "a", total = 3 }, headers = { X-Kind = "order", X-Other = "x" } }
  }

  emit "webhook.shop" {
    after = "2h"
    key   = "d-1"
    data  = { body = { id = "a", total = 3 }, headers = { X-Kind = "order" } }
  }

  emit "webhook.code" {
    after = "2h"
    data  = { body = { ref = "main" }, headers = { X-GitHub-Event = "push" } }
  }

  emit "webhook.plain" {
    after = "2h"
    data  = { body = "as it is" }
  }
  expect = [
    "run.status == 'succeeded' && run.outputs.heard == 'a'",
    "count(runs, .workflow == 'fulfil' && .status == 'succeeded') == 3 && len(events) == 3",
    "any(runs, .workflow == 'fulfil' && .outputs.order == 'a by d-1' && .outputs.cause == ['event', 'webhook.shop', 'webhook'])",
    "any(runs, .workflow == 'fulfil' && .outputs.order == 'push of main')",
    "any(runs, .workflow == 'fulfil' && .outputs.order == 'as it is')",
    "len(refused_events) == 0 && len(dlq) == 0",
  ]
}

test "what is forged, replayed or of another type starts nothing" {
  crash_everywhere = true
  emit "webhook.shop" {
    after = "1m"
    forge = true
    data  = { body = { id = "a", total = 3 }, headers = { x-kind = "order" } }
  }

  emit "webhook.code" {
    after = "2m"
    key   = "g-1"
    data  = { body = { ref = "main" } }
  }

  emit "webhook.code" {
    after = "3m"
    key   = "g-2"
    data  = { body = { ref = "main" } }
  }

  emit "webhook.shop" {
    after = "4m"
    data  = { body = { id = "b" }, headers = { x-kind = "order" } }
  }
  expect = [
    "count(runs, .workflow == 'fulfil') == 1",
    "len(refused_events) == 2",
    "refused_events[0].name == 'webhook.shop' && refused_events[0].why == 'signature' && refused_events[0].at == 60",
    "refused_events[1].name == 'webhook.code' && refused_events[1].why == 'replayed'",
    "len(dlq) == 1 && dlq[0].error.message contains 'is not of the declared type'",
  ]
}
