workflow "w" {
  step "a" {
    run = ['true']
  }
}
