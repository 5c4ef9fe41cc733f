workflow "w" {
  sequence "s" {
    when = "true"
    step "build" { run = ["true"] }
    step "test" { run = ["echo", step.buidl.output] }
  }
}
