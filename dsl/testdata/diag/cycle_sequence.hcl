workflow "w" {
  sequence "s" {
    step "first" {
      run        = ["true"]
      depends_on = [step.second]
    }
    step "second" { run = ["true"] }
  }
}
