workflow "w" {
  step "a" {
    script = "make"
  }
}
