workflow "w" {
  step "a" {
    run = ["true"]
    timout = "5s"
  }
}
