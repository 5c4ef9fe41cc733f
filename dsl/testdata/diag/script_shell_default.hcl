workflow "w" {
  step "a" {
    run = "ls ${DIR:-/tmp}"
  }
}
