test "Numbers grow by cooldowns and come back, steps start together near a deadline, and a workflow is started once" {
  crash_everywhere = true
  step "work" { replies = [{ takes = "30s" }, { takes = "30s", exit_code = 1 }, { takes = "30s" }] }
  step "late/a" { replies = [{ takes = "8m" }] }
  step "late/b" { replies = [{ takes = "1m" }] }
  step "late/c" { replies = [{ takes = "1m" }] }
  step "adapt:heal/fix" { replies = [{ exit_code = 3 }] }

  expect = [
    "run.status == 'succeeded'",
    "map(filter(changes, #.what == 'max_concurrency'), #.node) == ['grows', 'grows', 'grows', 'late']",
    "map(filter(changes, #.what == 'max_concurrency'), #.to) == [3, 5, 1, 3]",
    "changes[0].at == 30 && changes[0].from == 1 && changes[0].why contains 'metrics.queued > 2'",
    "len(filter(changes, #.what == 'workflow')) == 1 && any(changes, #.to == 'heal' && #.from == null)",
    "len(calls.fix) == 1 && calls.fix[0].node == 'adapt:heal/fix'",
    "any(run.warnings, # contains 'of workflow \"heal\" failed')",
    "calls['late/b'][0].at == calls['late/c'][0].at",
    "max_at_once.work == 5 && max_at_once['late/b'] == 1",
  ]
}
