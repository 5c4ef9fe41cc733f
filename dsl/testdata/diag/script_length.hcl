workflow "w" {
  step "a" {
    run = "echo ${#HOME}"
  }
}
