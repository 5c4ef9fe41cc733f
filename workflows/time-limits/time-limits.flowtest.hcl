test "two results and one that is forced" {
  crash_everywhere = true
  step "text" { replies = [{ output = { result = "the text" }, takes = "15m" }] }
  step "images" { replies = [{ hang = true }] }
  step "links" { replies = [{ output = { result = "links are fine" }, takes = "8m" }] }

  at "6m" { expect = ["step.images.status == 'failed' && live == 2"] }

  expect = [
    "run.status == 'succeeded' && elapsed == 15 * 60",
    "run.outputs.results == ['no images', 'links are fine', 'the text']",
  ]
}

test "what there is when the time is up counts" {
  step "text" { replies = [{ output = { result = "the text" } }] }
  step "images" { replies = [{ hang = true, partial = { result = "one of three images" } }] }
  step "links" { replies = [{ output = { result = "links are fine" } }] }

  expect = ["step.images.partial && run.outputs.results[0] == 'one of three images'", "elapsed == 300"]
}
