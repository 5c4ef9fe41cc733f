workflow "w" {
  step "a" {
    on_lost = "fail"
    wait { duration = "1h" }
  }
}
