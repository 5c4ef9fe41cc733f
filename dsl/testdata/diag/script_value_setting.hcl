workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "GIT_SSH_COMMAND=${input.x} git fetch"
  }
}
