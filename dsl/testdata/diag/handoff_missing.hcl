workflow "w" {
  step "a" {
    handoff {
      to      = "leo"
      summary = "done"
    }
  }
}
