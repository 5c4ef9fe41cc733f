workflow "ci" {
  step "build" {
    run = ["echo", $HOME]
  }
}
