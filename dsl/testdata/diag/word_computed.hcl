variable "p" {}
workflow "w" {
  step "a" {
    run = ["true"]
    parse = var.p
  }
}
