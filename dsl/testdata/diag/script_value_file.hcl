workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "sh ${input.x}"
  }
}
