# A reply stands for the whole conversation: no tool is called in a test.
test "an answer" {
  workflow = workflow.ask
  agent "librarian" { replies = [{ output = { answer = "The moon.", notes = ["tides"] }, usage = { input_tokens = 900, output_tokens = 30 } }] }
  expect = ["run.status == 'succeeded'", "run.outputs.answer == 'The moon.'", "run.usage.tokens == 930"]
}

test "the server has changed a tool" {
  workflow = workflow.ask
  agent "librarian" { replies = [{ error = { kind = "blocking", message = "the server describes the tool in other words than its pin" } }] }
  expect = ["run.status == 'failed'", "step.answer.error.kind == 'blocking'"]
}
