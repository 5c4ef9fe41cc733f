workflow "w" {
  step "write" {
    run      = ["true"]
    feedback = "do it better"
  }
}
