test "with two cards the third job waits for one of them" {
  crash_everywhere = true
  inputs = { jobs = [
    { name = "a", cpu = 1, memory_gb = 1, gpu = 1 }, { name = "b", cpu = 1, memory_gb = 1, gpu = 1 }, { name = "c", cpu = 1, memory_gb = 1, gpu = 1 },
  ] }
  agent "worker" { replies = [{ output = "done", takes = "10m" }] }

  at "5m" { expect = ["live == 2 && node['job[2]'].status == 'waiting' && max_in_use.gpu == 2"] }

  expect = ["calls['job[2]'][0].at == 600 && elapsed == 1200", "max_in_use.gpu == 2 && max_in_use.cpu == 2"]
}

test "what a job held is free after a failure, a crash and the end of its run" {
  agent "worker" {
    replies = [{ exit_code = 1, takes = "1m" }, { output = "lost with its driver", takes = "10m" }, { output = "done", takes = "1m" }]
  }

  start "fails" {
    workflow = workflow.jobs
    inputs   = { jobs = [{ name = "a", cpu = 8, memory_gb = 1, gpu = 0 }] }
  }

  start "dies" {
    workflow = workflow.jobs
    inputs   = { jobs = [{ name = "b", cpu = 8, memory_gb = 1, gpu = 0 }] }
  }

  start "last" {
    workflow = workflow.jobs
    inputs   = { jobs = [{ name = "c", cpu = 8, memory_gb = 1, gpu = 0 }] }
    after    = "1s"
  }

  crash { after = "5m" }

  expect = ["max_in_use.cpu == 8", "all(runs, .status == 'succeeded')", "runs.last.step.job.counts.succeeded == 1"]
}

test "a job that needs more than there is fails at once" {
  inputs = { jobs = [{ name = "a", cpu = 9, memory_gb = 1, gpu = 0 }, { name = "b", cpu = 8, memory_gb = 1, gpu = 0 }] }
  agent "worker" { replies = [{ output = "done" }] }

  expect = ["node['job[0]'].error.kind == 'fatal' && node['job[0]'].error.reason == 'limit'", "node['job[1]'].status == 'succeeded' && len(calls.worker) == 1"]
}
