workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "git push origin ${input.x}"
  }
}
