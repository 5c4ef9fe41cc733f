test "each event starts one run for each block, and what does not fit is a dead letter" {
  crash_everywhere = true
  expect = [
    "run.status == 'succeeded' && run.outputs.cause == 'manual' && run.cause.kind == 'manual'",
    "count(runs, .workflow == 'fulfil') == 1 && count(runs, .workflow == 'count') == 4",
    "all(runs, .status == 'succeeded')",
    "any(runs, .workflow == 'fulfil' && .input.order == 'A' && .input.pieces == 1 && .outputs.cause == ['event', 'order.placed', runs[0].id, 1])",
    "any(runs, .workflow == 'count' && .outputs.cause == ['order.shipped', 2] && .cause.depth == 2)",
    "len(dlq) == 1 && dlq[0].kind == 'event' && dlq[0].workflow == 'fulfil'",
    "dlq[0].error.message contains 'is not of the declared type'",
    "kv['events'] == 4",
    "node['on:fulfil/ship'].status == 'succeeded' && node['on:count[1]/one'].output > 0",
    "len(events) == 5",
  ]
}

test "an event from outside starts a run" {
  crash_everywhere = true
  emit "order.placed" {
    after = "1h"
    data  = { id = "x", total = 11 }
  }
  emit "order.placed" {
    after = "2h"
    key   = "same"
    data  = { id = "y", total = 11 }
  }
  emit "order.placed" {
    after = "3h"
    key   = "same"
    data  = { id = "y", total = 11 }
  }
  expect = [
    "count(runs, .workflow == 'fulfil' && .cause.kind == 'event' && .cause.source == 'outside') == 2",
    "any(runs, .workflow == 'fulfil' && .started == 3600 && .input.order == 'X')",
  ]
}
