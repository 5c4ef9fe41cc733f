variable "n" { default = var.m }
variable "m" { default = 1 }
workflow "w" {
  step "a" {
    run = ["true"]
  }
}
