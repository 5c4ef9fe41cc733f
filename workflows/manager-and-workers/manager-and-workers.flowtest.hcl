test "each task of the plan is done once, three at once, and the manager gets all results" {
  crash_everywhere = true
  inputs           = { goal = "release" }

  step "plan" { replies = [{ output = { tasks = ["build", "test", "sign", "upload", "tell"] }, takes = "1m" }] }
  agent "worker" { replies = [{ output = { result = "done: ${request.task}" }, takes = "10m" }] }
  step "report" { replies = [{ output = { report = join(", ", request.with.results) } }] }

  expect = [
    "run.outputs.report == 'done: build, done: test, done: sign, done: upload, done: tell'",
    "run.outputs.tasks == 5",
    "map(calls.worker, #.task) == ['build', 'test', 'sign', 'upload', 'tell']",
    "max_at_once.worker == 3",
    "before('plan', 'work') && before('work', 'report')",
    "elapsed == 21 * 60",
  ]
}

test "a task that fails leaves a gap in the report" {
  inputs = { goal = "release" }

  step "plan" { replies = [{ output = { tasks = ["build", "sign"] } }] }

  agent "worker" {
    replies = [{
      error  = request.task == "sign" ? { kind = "fatal", message = "the key is missing" } : null
      output = { result = "done: ${request.task}" }
    }]
  }

  step "report" { replies = [{ output = { report = jsonencode(request.with.results) } }] }

  expect = [
    "run.status == 'succeeded'",
    "run.outputs.report == '[\"done: build\",null]'",
    "node['work[1]'].error.message contains 'the key is missing'",
  ]
}
