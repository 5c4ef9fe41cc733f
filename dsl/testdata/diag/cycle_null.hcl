workflow "w" {
  step "a" { run = ["echo", step.b.stdout] }
  step "b" { run = ["echo", step.a.stdout] }
}
