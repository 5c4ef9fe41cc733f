workflow "w" {
  input "x" { type = string }
  step "a" {
    run = "sh -c \"echo ${input.x}\""
  }
}
