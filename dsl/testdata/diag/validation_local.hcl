locals {
  least = 3
}
workflow "w" {
  input "n" {
    type = number
    validation { condition = "input.n >= local.least" }
  }
  step "a" { run = ["true"] }
}
