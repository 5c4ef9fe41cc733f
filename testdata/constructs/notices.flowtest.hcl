test "people are told of a deadline at its marks and at its end, and of a budget once" {
  crash_everywhere = true

  step "quick" {
    replies = [{ stdout = "done" }]
  }

  step "slow" {
    replies = [{ hang = true }]
  }

  channel "broken" {
    replies = [{ status = 503 }]
  }

  expect = [
    "run.status == 'succeeded'",
    "step.slow.error.reason == 'deadline'",
    "count(notifications, #.kind == 'budget') == 1",
    "filter(notifications, #.kind == 'deadline')[0].data.percent == 50",
    "filter(notifications, #.kind == 'deadline')[0].at == 1",
    "filter(notifications, #.kind == 'deadline')[1].data.percent == 100",
    "filter(notifications, #.kind == 'deadline')[1].error.reason == 'deadline'",
    "count(notifications, #.kind == 'deadline') == 2",
    "any(run.warnings, # contains 'status 503')",
  ]
}
