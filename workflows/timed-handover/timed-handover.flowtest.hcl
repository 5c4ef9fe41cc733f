test "the next starts when the time of the first is up, though the first gave no result" {
  crash_everywhere = true
  inputs           = { task = "Add a cache." }
  agent "scout" { replies = [{ hang = true }] }
  agent "builder" { replies = [{ output = "notes: '${request.with.notes}'", takes = "5m" }] }

  expect = [
    "calls.builder[0].at == 600",
    "run.outputs.built == \"notes: ''\"",
    "step.explore.status == 'failed' && run.status == 'succeeded'",
  ]
}

test "the next gets what the first had until then" {
  inputs = { task = "Add a cache." }
  agent "scout" { replies = [{ hang = true, partial = { notes = "look at store.go" } }] }
  agent "builder" { replies = [{ output = "notes: ${request.with.notes}" }] }

  expect = ["step.explore.partial && calls.builder[0].at == 600", "run.outputs.built == 'notes: look at store.go'"]
}

test "a first that is done early hands over early" {
  inputs = { task = "Add a cache." }
  agent "scout" { replies = [{ output = { notes = "all" }, takes = "2m" }] }
  agent "builder" { replies = [{ output = "built" }] }

  expect = ["calls.builder[0].at == 120"]
}
