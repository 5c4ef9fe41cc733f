workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "export ${input.x}"
  }
}
