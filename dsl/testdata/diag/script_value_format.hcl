workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "printf ${input.x}"
  }
}
