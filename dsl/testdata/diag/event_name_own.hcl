workflow "w" {
  step "a" {
    wait { event = "flowrun.mine" }
  }
}
