workflow "w" {
  step "b" { run = ["true"] }
  step "a" { run = ["echo", step.b.outptu] }
}
