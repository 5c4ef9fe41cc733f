workflow "w" {
  step "b" { run = ["true"] }

  step "a" {
    value = 1
    when  = step.b.exit_code = 0
  }
}
