workflow "w" {
  step "a" {
    run = "ls ${HOME}"
  }
}
