workflow "w" {
  step "a" {
    handoff {
      to      = "leo"
      summary = " "
      next    = ""
    }
  }
}
