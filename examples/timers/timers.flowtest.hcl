test "a service that says when to come back is asked again then, and who waits for it hears of it" {
  crash_everywhere = true
  workflow         = workflow.rate_limit
  agent "caller" { replies = [{ error = { kind = "rate_limited", message = "too many requests", retry_after = 1800 } }, { output = { orders = 3 } }] }

  at "29m" { expect = ["run.status == 'waiting' && live == 0 && len(calls.caller) == 1"] }

  expect = [
    "run.outputs.orders.orders == 3 && calls.caller[1].at == 1800",
    "len(events) == 1 && events[0].name == 'service.back'",
  ]
}

test "training that takes too long is ended, and the way there is told at a quarter, a half and three quarters" {
  crash_everywhere = true
  workflow         = workflow.training
  inputs           = { limit = "6h" }
  agent "trainer" { replies = [{ hang = true }] }
  step "terminate" { replies = [{ stdout = "terminated" }] }

  at "5h59m" { expect = ["live == 1 && len(calls.terminate) == 0 && map(notifications, #.at) == [5400, 10800, 16200]"] }

  expect = [
    "run.status == 'failed' && step.train.error.reason == 'deadline' && step.train.attempts == 1",
    "map(notifications, #.data.percent) == [25, 50, 75, 100] && calls.terminate[0].at == 6 * 3600",
  ]
}

test "of three tasks one is over its limit and hands in what it has" {
  workflow = workflow.tasks
  agent "quick" { replies = [{ output = { text = "done", score = 0.9 }, takes = "5m" }] }
  agent "slow" { replies = [{ hang = true, partial = { text = "half a page" } }] }

  at "19m" { expect = ["step.search.status == 'succeeded' && live == 1"] }
  expect = ["run.outputs.results == ['done', 'done', 'half a page'] && run.outputs.forced && elapsed == 1200"]
}

test "each agent of a chain knows from whom it has the work and who gets it, and the last one says that all is complete" {
  crash_everywhere = true
  workflow         = workflow.chain
  agent "slow" { replies = [{ output = { text = "facts" }, takes = "5m" }, { output = { text = "a page" }, takes = "5m" }] }
  agent "quick" { replies = [{ output = { text = "a good page" } }] }

  expect = [
    "map(calls.slow, [#.with.step, #.with.from, #.with.to]) == [[0, null, 'write'], [1, 'research', 'check']]",
    "calls.slow[1].with.work == 'facts' && calls.quick[0].with.from == 'write' && calls.quick[0].with.work == 'a page'",
    "all(calls.slow, #.with.workflow == run.id) && calls.quick[0].with.workflow == run.id",
    "events[0].name == 'workflow.complete' && events[0].data == {'workflow': run.id, 'steps': 3, 'text': 'a good page'}",
  ]
}

test "the next agent starts when the window of the one before is over, with what there is" {
  workflow = workflow.chain
  agent "slow" { replies = [{ hang = true }, { hang = true, partial = { text = "a draft" } }] }
  agent "quick" { replies = [{ output = { text = "better than nothing" } }] }

  expect = [
    "run.status == 'succeeded' && calls.slow[1].at == 900 && calls.slow[1].with.work == ''",
    "calls.quick[0].at == 1800 && calls.quick[0].with.work == 'a draft'",
  ]
}

test "a service that failed three times is probed after five minutes" {
  agent "caller" { replies = [{ exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { output = { orders = 3 } }] }

  start "one" { workflow = workflow.reconnect }
  start "two" { workflow = workflow.reconnect }
  start "three" { workflow = workflow.reconnect }

  start "four" {
    workflow = workflow.reconnect
    after    = "1m"
  }

  at "4m" { expect = ["len(calls.caller) == 3 && runs.four.status == 'waiting' && breakers.service.state == 'open'"] }
  expect = ["calls.caller[3].at == 300 && runs.four.status == 'succeeded' && breakers.service.state == 'closed'"]
}

test "three days are three runs, with a crash in between, and the next moment is known" {
  workflow = workflow.day
  run_for  = "72h30m"
  agent "quick" { replies = [{ output = { text = "done", score = 0.9 } }] }
  crash { after = "36h" }

  expect = [
    "routines.daily.started == 3 && routines.daily.missed == 0 && routines.daily.next != null",
    "len(calls.quick) == 4 && count(runs, #.cause.name == 'daily') == 3 && all(runs, #.status == 'succeeded')",
  ]
}

test "who is not done when the time is up hands in what it has, and the best wins" {
  workflow = workflow.competition
  agent "quick" { replies = [{ output = { text = "quick", score = 0.5 }, takes = "10m" }] }
  agent "slow" { replies = [{ hang = true, partial = { text = "deep", score = 0.8 } }] }

  expect = ["run.outputs == {'winner': 'slow', 'text': 'deep'} && elapsed == 1800"]
}
