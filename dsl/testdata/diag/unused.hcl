variable "v" { default = 1 }
locals {
  l = 2
}
agent "a" { type = "null" }
gate "g" { check = "true" }
workflow "w" {
  input "i" { default = 3 }
  step "s" { run = ["true"] }
}
