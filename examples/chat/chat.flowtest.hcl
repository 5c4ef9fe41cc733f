test "written again" {
  workflow = workflow.notes
  agent "writer" { replies = [{ output = "A very long text." }, { output = "Short.", usage = { input_tokens = 100, output_tokens = 10 } }] }

  gate "short_enough" {
    replies = [
      { output = { scores = { brevity = 0.2 }, findings = [] } },
      { output = { scores = { brevity = 0.9 }, findings = [] } },
    ]
  }
  expect = ["run.status == 'succeeded'", "run.outputs.notes == 'Short.'", "run.outputs.attempts == 2"]
}

test "the model is busy" {
  workflow = workflow.notes
  agent "writer" { replies = [{ error = { kind = "rate_limited", message = "Slow down.", retry_after = 60 } }, { output = "Short." }] }
  gate "short_enough" { replies = [{ output = { scores = { brevity = 1 }, findings = [] } }] }
  expect = ["run.status == 'succeeded'", "elapsed == 60"]
}
