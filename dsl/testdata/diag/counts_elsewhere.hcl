workflow "w" {
  step "a" {
    run  = ["true"]
    when = "succeeded > 1"
  }
}
