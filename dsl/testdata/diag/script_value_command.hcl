workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "${input.x} --version"
  }
}
