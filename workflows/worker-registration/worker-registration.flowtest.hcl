test "a worker is listed with its capabilities while it works, and gone when it has signed off" {
  agent "worker" { replies = [{ output = { last = false }, takes = "30s" }, { output = { last = false }, takes = "30s" }, { output = { last = true }, takes = "30s" }] }

  start "one" { workflow = workflow.worker }

  start "seen" {
    workflow = workflow.who
    after    = "70s"
  }

  start "later" {
    workflow = workflow.who
    after    = "10m"
  }

  expect = [
    "runs.seen.outputs.workers.worker1.status == 'active' && runs.seen.outputs.workers.worker1.capabilities == ['go', 'gpu']",
    "runs.seen.outputs.workers.worker1.beat == 2",
    "len(runs.later.outputs.workers) == 0",
  ]
}

test "a worker that hangs is offline 90 seconds after its last beat, not before" {
  agent "worker" { replies = [{ hang = true }] }

  start "one" { workflow = workflow.worker }
  run_for = "2m"

  at "89s" { expect = ["kv['workers/worker1'].status == 'active'"] }
  at "91s" { expect = ["kv['workers/worker1'] == null && live == 1"] }
}
