test "deployments of one environment take turns, those of two do not wait" {
  crash_everywhere = true
  step "roll_out" { replies = [{ stdout = "", takes = "10m" }] }
  start "first" { inputs = { version = "1.0" } }

  start "second" {
    inputs = { version = "1.1" }
    after  = "1m"
  }

  start "other" {
    inputs = { version = "0.9", env = "live" }
    after  = "2m"
  }

  expect = [
    "all(runs, .status == 'succeeded')",
    "before('first/note', 'second/roll_out')",
    "kv['deployed/test'] == '1.1' && kv['deployed/live'] == '0.9'",
  ]
}

test "a run that waits is pending, and can be cancelled" {
  step "roll_out" { replies = [{ stdout = "", takes = "10m" }] }
  start "first" { inputs = { version = "1.0" } }
  start "second" { inputs = { version = "1.1" } }
  start "third" { inputs = { version = "1.2" } }

  cancel {
    of    = "second"
    after = "5m"
  }

  at "1m" { expect = ["runs.second.status == 'pending' && runs.third.status == 'pending' && live == 1"] }

  expect = [
    "runs.second.status == 'cancelled' && len(calls['second/roll_out']) == 0",
    "runs.third.started == runs.first.ended && kv['deployed/test'] == '1.2'",
  ]
}

test "the driver of one run dies, and the next run goes first" {
  step "roll_out" { replies = [{ stdout = "", takes = "10m" }] }
  start "first" { inputs = { version = "1.0" } }
  start "second" { inputs = { version = "1.1" } }

  down {
    of    = "first"
    after = "5m"
    for   = "1m"
  }

  expect = [
    "map(runs, .status) == ['succeeded', 'succeeded']",
    "runs.second.started == 300 && runs.first.ended == 1500",
    "max_at_once.roll_out == 1",
  ]
}

test "a deployment that failed is repeated in the same store" {
  step "roll_out" { replies = [{ error = { kind = "blocking", message = "no disk" } }, { stdout = "", takes = "10m" }] }
  start "first" { inputs = { version = "1.0" } }
  start "second" { inputs = { version = "1.1" } }

  retry "first_again" {
    of    = "first"
    after = "1h"
  }

  expect = [
    "runs.first.status == 'failed' && runs.second.status == 'succeeded'",
    "runs.first_again.outputs.version == '1.0' && kv['deployed/test'] == '1.0'",
  ]
}
