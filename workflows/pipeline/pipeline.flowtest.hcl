test "stages overlap, each within its bound, and each item keeps its order" {
  inputs = { items = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] }

  agent "ingest" { replies = [{ output = "raw ${request.with.item}", takes = "1s" }] }
  agent "process" { replies = [{ output = "clean ${request.with.item}", takes = "2s" }] }
  agent "analyze" { replies = [{ output = "${request.with.clean}, analyzed", takes = "3s" }] }

  at "10s" { expect = ["len(calls.ingest) == 10 && len(calls.analyze) == 3"] }

  expect = [
    "run.status == 'succeeded' && len(run.outputs.results) == 10",
    "run.outputs.results[9] == 'clean j, analyzed'",
    "max_at_once.ingest == 4 && max_at_once.process == 2 && max_at_once.analyze == 1",
    "before('item[0]/analyze', 'item[9]/process')",
    "filter(path, # startsWith 'item[0]/') == ['item[0]/ingest', 'item[0]/process', 'item[0]/analyze']",
    "filter(path, # startsWith 'item[9]/') == ['item[9]/ingest', 'item[9]/process', 'item[9]/analyze']",
    "elapsed == 1 + 2 + 10 * 3",
  ]
}

test "two items in all stages, with a crash anywhere" {
  crash_everywhere = true
  inputs           = { items = ["a", "b"] }

  agent "ingest" { replies = [{ output = "raw", takes = "1s" }] }
  agent "process" { replies = [{ output = "clean", takes = "2s" }] }
  agent "analyze" { replies = [{ output = "${request.with.item} is ${request.with.clean}", takes = "3s" }] }

  expect = ["run.outputs.results == ['a is clean', 'b is clean']"]
}
