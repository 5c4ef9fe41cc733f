workflow "w" {
  sequence "all" {
    value = { first = step.a.output, all = step.all.output }
    step "a" { run = ["true"] }
  }
}
