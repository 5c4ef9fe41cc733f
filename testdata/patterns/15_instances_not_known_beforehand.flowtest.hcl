test "15, multiple instances not known beforehand: more turn up while some are being handled, and what follows waits for all" {
  crash_everywhere = true
  agent "worker" { replies = [{ output = { with = request.with }, takes = "${request.with.takes}s" }] }

  expect = [
    "run.status == 'succeeded' && run.outputs.checked == 3",
    "map(filter(calls.worker, #.with.takes == 3), #.at) == [1, 2, 3]",
    "before('unload', 'leave') && before('handler', 'leave') && elapsed == 6",
    "node['goods/handler[5]/check'].status == 'skipped'",
  ]
}
