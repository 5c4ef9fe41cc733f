test "a busy machine lets the run do less at once, and then the number of the file is back" {
  crash_everywhere = true
  inputs           = { pages = [for i in range(20) : "p${i}"], reports = [] }
  step "page" { replies = [{ takes = "1m" }] }

  metrics {
    after = "90s"
    cpu   = 85
  }

  at "3m30s" { expect = ["live == 2"] }

  # At the bound nothing changes yet.
  metrics {
    after = "4m"
    cpu   = 80
  }

  metrics {
    after = "4m30s"
    cpu   = 79
  }

  at "4m29s" { expect = ["live == 2"] }
  at "4m31s" { expect = ["live == 4"] }
  expect = [
    "run.status == 'succeeded'",
    "map(changes, [#.from, #.to]) == [[4, 2], [2, 4]]",
    "changes[0].at == 90 && changes[0].rule == 2 && changes[0].why contains 'metrics.cpu > 80 (metrics.cpu = 85)'",
    "changes[1].at == 270 && changes[1].rule == 0 && changes[1].why contains 'metrics.cpu < 80 (metrics.cpu = 79)'",
    "max_at_once.page == 4",
  ]
}

test "one of ten fails, so the cause is looked for, once" {
  crash_everywhere = true
  inputs           = { pages = [for i in range(20) : "p${i}"], reports = [] }
  step "page" { replies = [{ takes = "10s" }, { exit_code = 1, takes = "10s" }, { takes = "10s" }] }
  agent "medic" { replies = [{ output = "mended", takes = "1m" }] }
  expect = [
    "run.status == 'succeeded'",
    "len(calls.medic) == 1 && calls.medic[0].task startsWith '10% of the attempts fail'",
    "len(changes) == 1 && changes[0].what == 'workflow' && changes[0].to == 'mend' && changes[0].rule == 3",
    "any(runs, #.workflow == 'mend' && #.cause.kind == 'call' && #.status == 'succeeded')",
  ]
}

test "a medic that fails is a warning" {
  inputs = { pages = [for i in range(12) : "p${i}"], reports = [] }
  step "page" { replies = [{ exit_code = 1, takes = "10s" }] }
  agent "medic" { replies = [{ error = { kind = "fatal", message = "out of ideas" } }] }
  expect = ["run.status == 'succeeded'", "any(run.warnings, # contains 'out of ideas')"]
}

test "more than ten waiting for each that may run add 2, up to 8, and a short queue takes them back" {
  inputs = { pages = [for i in range(120) : "p${i}"], reports = [] }
  step "page" { replies = [{ takes = "20s" }] }
  at "10s" { expect = ["live == 4"] }
  at "50s" { expect = ["live == 6"] }
  at "110s" { expect = ["live == 8"] }
  expect = [
    "run.status == 'succeeded'",
    "map(changes, [#.from, #.to]) == [[4, 6], [6, 8], [8, 4]]",
    "changes[0].why contains 'metrics.queued > 10 * metrics.limit (metrics.queued = '",
    "changes[1].at - changes[0].at == 60",
    "max_at_once.page == 8",
  ]
}

test "a queue of 42 adds 2, with a crash anywhere" {
  crash_everywhere = true
  inputs           = { pages = [for i in range(46) : "p${i}"], reports = [] }
  step "page" { replies = [{ takes = "20s" }] }
  expect = ["run.status == 'succeeded' && map(changes, [#.from, #.to]) == [[4, 6], [6, 4]] && max_at_once.page == 6"]
}

test "near the deadline the reports that are left start together" {
  inputs = { pages = [], reports = ["a", "b", "c", "d", "e"] }
  step "report" { replies = [{ takes = "8m" }] }
  at "20m" { expect = ["live == 1", "len(calls.report) == 3"] }
  at "22m" { expect = ["live == 3"] }
  expect = [
    "run.status == 'succeeded' && elapsed == 1740",
    "len(changes) == 1 && changes[0].node == 'write' && changes[0].from == 1 && changes[0].at == 1260",
    "changes[0].why contains 'metrics.remaining = 540'",
    "calls.report[3].at == 1260 && calls.report[4].at == 1260",
  ]
}
