test "each moment starts one run" {
  run_for          = "3h10m"
  crash_everywhere = true
  expect = [
    "routines.hourly.started == 3 && routines.hourly.missed == 0 && routines.hourly.waiting == 0",
    "routines.hourly.next == '2026-01-05T12:00:00.000Z'",
    "count(runs, .cause.name == 'hourly') == 3",
    "any(runs, .cause.scheduled_at == '2026-01-05T09:00:00.000Z' && .started == 3600 && .outputs.text == 'full 3')",
    "any(runs, .started == 3600 && .outputs.cause == ['routine', 'hourly', '2026-01-05T09:00:00.000Z'])",
    "count(runs, .cause.name == 'catch_up') == 1 && any(runs, .outputs.cause == ['routine', 'catch_up', '2026-01-05T09:30:00.000Z'])",
    "kv['strict'] == 3 && routines.strict.missed == 0",
    "routines.off.paused && routines.off.started == 0 && routines.off.next == null",
    "routines.long.started == 9",
    "count(runs, .cause.name == 'long' && .status == 'skipped') > 2 && max_at_once.long == 1",
    "elapsed == 11400",
  ]
}
