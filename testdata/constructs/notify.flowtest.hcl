test "messages are sent, and a channel that is down is tried three times" {
  crash_everywhere = true

  channel "broken" {
    replies = [{ error = { message = "no such directory" } }]
  }

  expect = [
    "run.status == 'succeeded'",
    "run.outputs.told == { sent: ['log', 'program'], suppressed: [], failed: [] }",
    "run.outputs.partly == { sent: ['log'], suppressed: [], failed: ['broken'] }",
    "run.outputs.nobody == ['transient', 'error']",
    "count(notifications, #.channel == 'log') == 5",
    "notifications[0].title == 'Check' && notifications[0].level == 'warning' && notifications[0].data.files == 3",
    "none(notifications, #.channel == 'broken')",
    "any(run.warnings, # contains 'no such directory')",
    "elapsed >= 3 && elapsed < 3.75",
  ]
}
