test "a file that comes is loaded, and one that goes is not" {
  crash_everywhere = true
  emit "file.inbox" {
    after = "1m"
    data  = { path = "inbox/a.csv", change = "created", size = 12, modified = "2026-01-05T08:00:59Z" }
  }
  emit "file.inbox" {
    after = "2m"
    data  = { path = "inbox/a.csv", change = "removed", size = 0, modified = "" }
  }
  emit "file.inbox" {
    after = "3m"
    data  = { path = "inbox/a.csv", change = "moved", size = 0, modified = "" }
  }
  expect = [
    "count(runs, .workflow == 'load') == 1",
    "any(runs, .workflow == 'load' && .outputs.loaded == 'inbox/a.csv: 12')",
    "len(dlq) == 1 && dlq[0].error.message contains 'is not of the declared type'",
  ]
}
