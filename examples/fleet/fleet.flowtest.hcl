test "the orchestrator ends when three workers have done each task once" {
  workflow = workflow.orchestrator
  agent "worker" { replies = [{ output = { done = true }, takes = "10s" }] }

  at "5s" { expect = ["kv['agents/worker1'].status == 'active' && kv['agents/worker3'].status == 'active'"] }

  expect = [
    "run.outputs.progress_percent == 100",
    "len(calls.worker) == 6 && kv['main/completed'] == 6",
    "kv['tasks/queue.ship'] == null && kv['agents/worker1'] == null",
    "max_at_once.do == 3 && elapsed == 20",
  ]
}

test "a task that is claimed is left to who claimed it" {
  workflow = workflow.worker
  inputs   = { id = "worker2", tasks = ["build", "test"] }
  kv       = { "tasks/claimed.build" = "worker1" }
  agent "worker" { replies = [{ output = { done = true } }] }

  expect = ["len(calls.worker) == 1 && calls.worker[0].task == 'test'", "kv['tasks/claimed.build'] == 'worker1' && kv['main/completed'] == 1"]
}

test "the monitor reads progress, workers and the queue" {
  workflow = workflow.monitor
  inputs   = { total = 8 }
  kv = {
    "main/completed"     = 3
    "agents/worker1"     = { status = "active" }
    "tasks/queue.build"  = "pending"
    "tasks/queue.test"   = "pending"
    "tasks/claimed.test" = "worker1"
  }

  expect = ["run.outputs.progress_percent == 37 && run.outputs.active_workers == 1 && run.outputs.queue_depth == 2"]
}

test "the resource manager never gives more than there is" {
  workflow = workflow.resource_manager
  inputs   = { jobs = [for i in range(6) : { name = "job ${i}", cpu = 3, gpu = i % 2 }] }
  agent "worker" { replies = [{ output = { done = true }, takes = "1m" }] }

  expect = ["max_in_use.cpu == 6 && max_in_use.gpu <= 2", "len(calls.worker) == 6 && elapsed == 180"]
}

test "the pipeline takes each item through four stages in order" {
  workflow = workflow.pipeline
  agent "worker" { replies = [{ output = { done = true }, takes = "10s" }] }

  at "15s" { expect = ["kv['logs/item_a'].stage == 'process' && kv['logs/item_c'].stage == 'process'"] }

  expect = [
    "len(calls.worker) == 12 && elapsed == 40",
    "kv['logs/item_a'].stage == 'output'",
  ]
}
