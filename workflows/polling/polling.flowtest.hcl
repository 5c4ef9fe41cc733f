test "the third answer is the result" {
  crash_everywhere = true
  step "ask" {
    replies = [
      { output = { state = "queued" } },
      { output = { state = "running" } },
      { output = { state = "done", result = "41 files" } },
    ]
  }

  expect = ["run.outputs == {'result': '41 files', 'asked': 3}", "elapsed == 60", "calls.ask[2].at == 60"]
}

test "a job that breaks fails the run" {
  step "ask" { replies = [{ output = { state = "running" } }, { output = { state = "broken", result = "none" } }] }

  expect = ["run.status == 'failed' && run.error.message contains 'the job is broken'"]
}

test "a job that never ends is given up after an hour" {
  step "ask" { replies = [{ output = { state = "running" } }] }

  expect = ["run.status == 'failed' && step.ask.error.reason == 'deadline'", "elapsed == 3600"]
}
