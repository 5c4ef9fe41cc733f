test "with all that it needs, the task gets the newest prices" {
  crash_everywhere = true
  step "database" { replies = [{}] }
  step "prices" { replies = [{ output = { gold = 60 } }] }
  agent "worker" { replies = [{ output = "done" }] }

  expect = [
    "run.status == 'succeeded' && calls.worker[0].with.prices.gold == 60 && len(notifications) == 0",
    "kv['prices'].prices.gold == 60",
  ]
}

test "without the prices the last ones take their place, and everyone hears how old they are" {
  crash_everywhere = true
  kv               = { prices = { prices = { gold = 59 }, at = "2026-01-05T07:00:00.000Z" } }
  step "database" { replies = [{}] }
  step "prices" { replies = [{ exit_code = 1 }] }
  agent "worker" { replies = [{ output = "done" }] }

  expect = [
    "run.status == 'succeeded' && calls.worker[0].with == {'prices': {'gold': 59}, 'of': '2026-01-05T07:00:00.000Z'}",
    "len(notifications) == 1 && notifications[0].text == 'The prices cannot be read; those of 2026-01-05T07:00:00.000Z stand in.'",
  ]
}

test "prices that are older than a day are not used" {
  kv = { prices = { prices = { gold = 59 }, at = "2026-01-04T07:59:00.000Z" } }
  step "database" { replies = [{}] }
  step "prices" { replies = [{ exit_code = 1 }] }
  agent "worker" { replies = [{ output = "done" }] }

  expect = ["run.status == 'failed' && step.work.error.message contains 'too old' && len(calls.worker) == 0"]
}

test "prices that were never read are not used" {
  step "database" { replies = [{}] }
  step "prices" { replies = [{ exit_code = 1 }] }
  agent "worker" { replies = [{ output = "done" }] }

  expect = ["run.status == 'failed' && step.work.error.message contains 'too old' && len(calls.worker) == 0"]
}

test "without the database no run continues, and however many runs wait, one probe asks in five minutes" {
  step "database" { replies = [{ exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, { exit_code = 1 }, {}] }
  step "prices" { replies = [{ output = { gold = 60 } }] }
  agent "worker" { replies = [{ output = "done" }] }

  start "one" {}
  start "two" {}
  start "three" { after = "1m" }
  start "four" { after = "2m" }
  start "five" { after = "3m" }
  start "six" { after = "4m" }

  at "14m" { expect = ["len(calls.database) == 4 && len(calls.worker) == 0 && breakers.database.state == 'open'"] }

  expect = [
    "all(runs, #.status == 'succeeded') && len(calls.worker) == 6",
    "map(calls.database[:5], #.at) == [0, 0, 300, 600, 900]",
  ]
}
