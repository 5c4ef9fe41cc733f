workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "echo $((${input.x} + 1))"
  }
}
