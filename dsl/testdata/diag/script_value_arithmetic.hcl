workflow "w" {
  input "x" { type = number }
  step "a" {
    run = "echo $((${input.x} + 1))"
  }
}
