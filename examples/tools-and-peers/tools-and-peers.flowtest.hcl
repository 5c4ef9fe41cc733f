test "the writer gets the notes that the tool finds" {
  inputs = { about = "coffee" }

  step "find" { replies = [{ output = { found = ["notes/coffee.txt"] } }] }
  step "write" { replies = [{ output = "written", takes = "1m" }] }

  expect = [
    "run.outputs.notes == 1 && run.outputs.said == 'written'",
    "calls.find[0].with.query == 'coffee' && calls.write[0].with.notes == ['notes/coffee.txt']",
  ]
}

test "a tool that fails ends the run" {
  agent "search" { replies = [{ error = { kind = "blocking", message = "no notes" } }] }

  expect = ["run.status == 'failed' && step.write.status == 'blocked'"]
}
