workflow "w" {
  sequence "all" {
    value = { lines = length(step.a.output) }
    step "a" { run = ["true"] }
  }
  step "after" { value = step.all.output.line }
}
