test "three nights are three reports, also when the process is killed in between" {
  start_at = "2026-01-05T08:00:00Z"
  run_for  = "3d"
  crash {
    after = "36h"
  }

  step "write" {
    replies = [{ stdout = "a full report" }]
  }

  step "inbox" {
    replies = [{ stdout = "nothing new" }]
  }

  step "hour" {
    replies = [{ stdout = "booked" }]
  }

  expect = [
    "routines.nightly.started == 3 && routines.nightly.missed == 0",
    "filter(runs, .cause.name == 'nightly') | all(.status == 'succeeded' && .input.depth == 'full')",
    "map(filter(runs, .cause.name == 'nightly'), .cause.scheduled_at) == ['2026-01-06T01:30:00.000Z', '2026-01-07T01:30:00.000Z', '2026-01-08T01:30:00.000Z']",
    "routines.nightly.next != null",
  ]
}

test "the inbox is looked at in office hours alone" {
  start_at = "2026-01-09T15:50:00Z" # Friday, 16:50 in Berlin
  run_for  = "63h40m"               # until Monday, 08:30 in Berlin
  step "write" {
    replies = [{ stdout = "a report" }]
  }

  step "inbox" {
    replies = [{ stdout = "nothing new" }]
  }

  step "hour" {
    replies = [{ stdout = "booked" }]
  }

  expect = [
    "map(filter(runs, .cause.name == 'office_hours'), .cause.scheduled_at) == ['2026-01-09T16:00:00.000Z', '2026-01-09T16:15:00.000Z', '2026-01-09T16:30:00.000Z', '2026-01-09T16:45:00.000Z', '2026-01-12T07:00:00.000Z', '2026-01-12T07:15:00.000Z', '2026-01-12T07:30:00.000Z']",
  ]
}

test "the night in which clocks go forward has its report" {
  start_at = "2026-03-28T12:00:00Z"
  run_for  = "24h"
  step "write" {
    replies = [{ stdout = "a report" }]
  }

  step "hour" {
    replies = [{ stdout = "booked" }]
  }

  expect = ["map(filter(runs, .cause.name == 'nightly'), .cause.scheduled_at) == ['2026-03-29T01:00:00.000Z']"]
}

test "after six hours without a process each hour is booked, and the inbox is looked at once" {
  start_at = "2026-01-05T08:10:00Z"
  run_for  = "8h"
  down {
    after = "30m"
    for   = "6h"
  }

  step "write" {
    replies = [{ stdout = "a report" }]
  }

  step "inbox" {
    replies = [{ stdout = "nothing new" }]
  }

  step "hour" {
    replies = [{ stdout = "booked" }]
  }

  expect = [
    "routines.bookings.started == 8 && routines.bookings.missed == 0 && kv['booked'] == 8",
    "map(filter(runs, .cause.name == 'bookings'), .cause.scheduled_at)[0] == '2026-01-05T09:00:00.000Z'",
    "routines.office_hours.missed == 24 && max_at_once.book == 1",
  ]
}
