workflow "w" {
  step "a" { run = ["hostname"] }
  finally {
    step "say" { value = "done with ${step.a.output}: ${run.status}" }
  }
}
