test "each worker gets its task as JSON, and two run at once" {
  crash_everywhere = true
  inputs           = { tasks = [{ id = "a", type = "X", payload = "p" }, { id = "b", type = "Y", payload = "" }, { id = "c", type = "X", payload = "" }] }

  step "work" { replies = [{ output = ["Processing task", "{\"status\":\"completed\",\"taskId\":\"?\",\"result\":7}"], takes = "1s" }] }

  expect = [
    "run.outputs == {'results': {'a': 7, 'b': 7, 'c': 7}, 'unsolved': []}",
    "calls.work[0].stdin == '{\"id\":\"a\",\"payload\":\"p\",\"type\":\"X\"}'",
    "max_at_once.work == 2 && elapsed == 2",
  ]
}

test "a failure on standard error counts though the exit code is 0, and the task is tried again" {
  crash_everywhere = true
  inputs           = { tasks = [{ id = "a", type = "X", payload = "" }] }

  step "work" {
    replies = [
      { output = ["Processing task"], stderr = "{\"status\":\"failed\",\"taskId\":\"a\",\"error\":\"busy\"}", exit_code = 0 },
      { output = ["Processing task", "{\"status\":\"completed\",\"taskId\":\"a\",\"result\":\"done\"}"] },
    ]
  }

  expect = ["run.outputs.results.a == 'done' && len(calls.work) == 2"]
}

test "a worker that says nothing, and one that always fails, do not keep the others back" {
  inputs = { tasks = [{ id = "a", type = "X", payload = "" }, { id = "b", type = "X", payload = "" }, { id = "c", type = "X", payload = "" }] }

  step "work[0]" { replies = [{ output = [] }] }
  step "work[1]" { replies = [{ output = [], stderr = "{\"status\":\"failed\",\"taskId\":\"b\",\"error\":\"no\"}", exit_code = 0 }] }
  step "work[2]" { replies = [{ output = ["{\"status\":\"completed\",\"taskId\":\"c\",\"result\":1}"] }] }

  expect = [
    "run.status == 'succeeded' && run.outputs == {'results': {'a': null, 'b': null, 'c': 1}, 'unsolved': ['a', 'b']}",
    "node['work[1]'].attempts == 3 && node['work[1]'].error.message contains '\"error\":\"no\"'",
  ]
}
