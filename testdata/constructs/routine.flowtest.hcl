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

test "a day without a process" {
  start_at = "2026-01-05T08:40:00Z"
  run_for  = "34h"
  down {
    after = "3h"
    for   = "24h"
  }

  at "2h59m" {
    expect = ["routines.hourly.started == 3 && routines.catch_up.started == 2 && kv['strict'] == 3"]
  }

  at "27h1m" {
    expect = [
      "routines.hourly.started == 4 && routines.hourly.missed == 23",
      "routines.catch_up.started == 14 && routines.catch_up.missed == 0",
      "kv['strict'] == 3 && routines.strict.missed == 24",
    ]
  }
  expect = [
    "count(runs, .cause.name == 'catch_up' && .status == 'succeeded') == routines.catch_up.started",
    "count(runs, .cause.name == 'hourly' && .status == 'succeeded') == routines.hourly.started",
    "routines.hourly.started + routines.hourly.missed == 34",
    "routines.catch_up.started == 17 && kv['strict'] == 10 && routines.strict.missed == 24",
  ]
}
