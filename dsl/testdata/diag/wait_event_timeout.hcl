workflow "w" {
  step "a" {
    wait {
      event   = "done"
      timeout = "soon"
    }
  }
}
