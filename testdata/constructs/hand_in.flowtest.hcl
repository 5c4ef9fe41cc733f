test "what there is when the time is up is handed in" {
  crash_everywhere = true
  agent "worker" {
    replies = [{ hang = true, partial = { text = "half of it" } }]
  }

  expect = [
    "run.status == 'succeeded'",
    "step.write.partial",
    "step.write.output.text == 'half of it'",
    "elapsed == 60",
    "run.outputs.whole == false",
  ]
}

test "nothing to hand in" {
  crash_everywhere = true
  agent "worker" {
    replies = [{ hang = true }]
  }

  expect = [
    "step.write.status == 'failed'",
    "step.write.error.reason == 'timeout'",
  ]
}
