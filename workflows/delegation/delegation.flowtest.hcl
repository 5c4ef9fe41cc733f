test "a problem of the api goes to the backend team, which has two tasks of it" {
  crash_everywhere = true
  inputs           = { problem = { component = "api", type = "500", text = "GET /items fails" } }
  agent "backend" { replies = [{ output = { cause = "no index" } }, { output = "an index" }] }

  expect = [
    "step.api.output.change == 'an index'",
    "map(calls.backend, #.task) == ['Find the cause: GET /items fails', 'Remove the cause: no index']",
  ]
}

test "a type error goes to the one who knows types" {
  inputs = { problem = { component = "ui", type = "TS2339", text = "no property x" } }
  agent "typescript" { replies = [{ output = "mended" }] }

  expect = ["calls.typescript[0].task == 'no property x' && step.types.status == 'succeeded'"]
}

test "what no rule names goes to the default" {
  inputs = { problem = { component = "ui", type = "CSS", text = "the button is green" } }
  agent "generalist" { replies = [{ output = "blue" }] }

  expect = ["len(calls.generalist) == 1 && step.other.status == 'succeeded'"]
}
