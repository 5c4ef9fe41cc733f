workflow "w" {
  sequence "all" {
    when = "step.a.exit_code == 0"
    step "a" { run = ["true"] }
  }
}
