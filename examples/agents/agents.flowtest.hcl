test "three agents count" {
  agent "shell" { replies = [{ output = { words = 9 } }] }
  agent "python" { replies = [{ output = { words = 9 }, takes = "2s" }] }
  agent "node" { replies = [{ output = { words = 9 }, takes = "1s" }] }

  expect = [
    "run.outputs.words == { node: 9, python: 9, sh: 9 }",
    "max_at_once.shell == 1 && elapsed == 2", # all at once
    "calls.python[0].task == input.text",
  ]
}

test "one that is silent is asked again" {
  inputs = { languages = ["python"] }
  agent "python" { replies = [{ hang = true }, { output = { words = 9 } }] }

  expect = [
    "run.outputs.words == { python: 9 }",
    "len(calls.python) == 2 && elapsed == 30",
    "step.node.status == 'skipped'",
  ]
}
