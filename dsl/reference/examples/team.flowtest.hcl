test "work that is handed in is done after the roadmap" {
  loop  = loop.team
  items = { roadmap = [{ id = "page", title = "a page" }] }

  agent "sam" { replies = [{ output = "done", takes = "10m" }] }

  dispatch "menu" {
    title        = "The menu"
    body         = "It is too long."
    labels       = ["site"]
    capabilities = ["site"]
    needs        = []
    priority     = 5
    assignee     = "sam"
    by           = "ann"
    after        = "1m"
  }

  expect = ["loop.closed == 2"]
}

test "two loops share a roadmap, and no item is done twice" {
  loops   = [loop.team, loop.night]
  run_for = "1h"
  items   = { roadmap = [{ id = "page" }, { id = "menu" }] }

  agent "sam" { replies = [{ output = "done", takes = "10m" }] }

  expect = [
    "loops.team.closed + loops.night.closed == 2",
    "len(calls.sam) == 2",
  ]
}

test "a forged delivery starts nothing" {
  loop = loop.team

  emit "webhook.ticket" {
    data  = { body = {} }
    forge = true
  }

  expect = ["len(refused_events) == 1"]
}
