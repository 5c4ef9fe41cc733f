test "100 items by 5 workers: 100 completions, none twice" {
  inputs = { items = range(100) }
  agent "worker" { replies = [{ output = request.with.item, takes = "1m" }] }

  expect = [
    "run.outputs.done == 100",
    "len(calls.worker) == 100",
    "len(uniq(map(calls.worker, #.with.item))) == 100",
    "max_at_once.worker == 5",
    "elapsed == 20 * 60",
  ]
}

test "what a crash interrupts is done again under its key, and nothing is left out" {
  crash_everywhere = true
  inputs           = { items = range(7) }
  agent "worker" { replies = [{ output = request.with.item, takes = "1m" }] }

  expect = ["run.outputs.done == 7 && elapsed == 120"]
}
