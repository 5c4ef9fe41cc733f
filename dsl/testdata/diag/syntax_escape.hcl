workflow "w" {
  step "a" {
    run = ["\d+"]
  }
}
