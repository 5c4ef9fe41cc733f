workflow "w" {
  step "a" {
    emit { event = "done" }
  }
  step "b" { value = step.a.output.name }
}
