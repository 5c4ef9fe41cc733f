test "one of five has the claim, and the others are told who" {
  crash_everywhere = true
  inputs           = { task = "T-17" }
  agent "worker" { replies = [{ output = "done", takes = "10m" }] }

  at "5m" { expect = ["kv['claims/T-17'] != null"] }

  expect = [
    "run.outputs.winners == 1 && len(run.outputs.holders) == 1",
    "len(calls.worker) == 1",
    "kv['claims/T-17'] == null",
  ]
}

test "a claim of another run is left alone" {
  workflow = workflow.claim
  inputs   = { task = "T-17" }
  kv       = { "claims/T-17" = "worker9" }
  agent "worker" { replies = [{ output = "done" }] }

  expect = [
    "run.outputs == {'claimed': false, 'holder': 'worker9'}",
    "len(calls.worker) == 0 && kv['claims/T-17'] == 'worker9'",
  ]
}

test "work that fails gives the claim back" {
  workflow = workflow.claim
  inputs   = { task = "T-17" }
  agent "worker" { replies = [{ error = { kind = "fatal", message = "no disk" } }] }

  expect = ["run.status == 'failed' && kv['claims/T-17'] == null"]
}
