test "a circle with two ways back and two ways out" {
  crash_everywhere = true
  agent "worker" { replies = [{ output = {}, takes = "${request.with.takes}s" }] }

  expect = [
    "run.status == 'succeeded' && run.outputs.rounds == 7",
    "map(filter(path, # endsWith 'write' || # endsWith 'check' || # endsWith 'approve'), last(split('/', #))) == ['write', 'check', 'write', 'check', 'approve', 'check', 'approve']",
  ]
}

test "the other way in, and the other way out" {
  crash_everywhere = true
  inputs           = { start = "check" }
  agent "worker" { replies = [{ output = {}, takes = "${request.with.takes}s" }] }

  expect = ["run.status == 'succeeded' && len(calls.worker) == run.outputs.rounds && run.outputs.rounds == 5"]
}
