workflow "w" {
  input "n" {
    type = number
    validation {
      condition = "true"
    }
  }
  step "a" { run = ["true"] }
}
