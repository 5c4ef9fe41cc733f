workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "make 2>&${input.x}"
  }
}
