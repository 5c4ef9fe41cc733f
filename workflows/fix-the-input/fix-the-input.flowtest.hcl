test "the second try gets the mended input" {
  crash_everywhere = true
  inputs           = { record = "2026-13-01" }
  agent "importer" {
    replies = [{
      error  = request.with.record == "2026-13-01" ? { kind = "recoverable", message = "there are 12 months" } : null
      output = request.with.record
    }]
  }

  agent "fixer" { replies = [{ output = { record = "2026-12-01" } }] }

  expect = [
    "run.outputs.loaded == '2026-12-01'",
    "calls.fixer[0].with.said contains 'there are 12 months'",
    "map(calls.importer, #.with.record) == ['2026-13-01', '2026-12-01']",
  ]
}

test "a good input is not touched" {
  inputs = { record = "2026-12-01" }
  agent "importer" { replies = [{ output = request.with.record }] }
  agent "fixer" { replies = [{ output = { record = "" } }] }

  expect = ["run.outputs.loaded == '2026-12-01' && len(calls.fixer) == 0"]
}
