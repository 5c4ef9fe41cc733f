workflow "w" {
  step "no" {
    fail {
      message = "not on a Friday"
      kind    = "permanent"
    }
  }
}
