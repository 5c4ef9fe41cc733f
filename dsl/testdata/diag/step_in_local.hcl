locals {
  a = step.b.output
}
workflow "w" {
  step "b" { run = ["true"] }
}
