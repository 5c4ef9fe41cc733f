workflow "w" {
  step "a" {
    run  = ["true"]
    when = "1 > 2"
  }
}
