workflow "w" {
  sequence "all" {
    step "a" { run = ["echo", step.all.status] }
  }
}
