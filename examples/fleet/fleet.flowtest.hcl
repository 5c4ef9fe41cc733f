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

  # Where each item is, since when, and who has it.
  at "15s" {
    expect = [
      "kv['logs/item_a'].stage == 'process' && kv['logs/item_a'].started == '2026-01-05T08:00:10.000Z' && kv['logs/item_a'].worker == 'worker'",
      "kv['logs/item_c'].stage == 'process' && kv['logs/item_c'].run != kv['logs/item_a'].run",
    ]
  }

  expect = [
    "len(calls.worker) == 12 && elapsed == 40",
    "kv['logs/item_a'].stage == 'output'",
  ]
}

test "each role writes into its own namespaces alone" {
  agent "worker" { replies = [{ output = { done = true }, takes = "10s" }] }

  start "monitor" { workflow = workflow.monitor }

  start "manager" {
    workflow = workflow.resource_manager
    after    = "1m"
  }

  start "pipeline" {
    workflow = workflow.pipeline
    after    = "5m"
  }

  start "orchestrator" {
    workflow = workflow.orchestrator
    after    = "10m"
  }

  at "4m" {
    expect = [
      "runs.manager.status == 'succeeded' && kv['main/completed'] == null && kv['tasks/queue.build'] == null && kv['agents/worker1'] == null && kv['logs/item_a'] == null",
    ]
  }

  at "9m" {
    expect = ["runs.pipeline.status == 'succeeded' && kv['main/completed'] == null && kv['tasks/queue.build'] == null && kv['logs/item_a'].stage == 'output'"]
  }

  # The orchestrator and its workers leave the notes of the pipeline alone.
  expect = [
    "all(runs, #.status == 'succeeded') && kv['main/completed'] == 6 && kv['tasks/claimed.build'] startsWith 'worker'",
    "kv['logs/item_a'].started == '2026-01-05T08:05:30.000Z'",
  ]
}

test "progress is seen while the work goes on: 37 percent after 37 of 100 tasks" {
  agent "worker" { replies = [{ output = { done = true }, takes = "10s" }] }

  start "all" {
    workflow = workflow.orchestrator
    inputs   = { tasks = [for n in range(100) : "task ${n}"], workers = ["worker1"] }
  }

  start "seen" {
    workflow = workflow.monitor
    inputs   = { total = 100 }
    after    = "375s"
  }

  expect = [
    "runs.seen.outputs.progress_percent == 37 && runs.seen.outputs.active_workers == 1 && runs.seen.outputs.queue_depth == 63",
    "runs.all.outputs.progress_percent == 100",
  ]
}
