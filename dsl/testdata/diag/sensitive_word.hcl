variable "token" { sensitive = "yes" }
workflow "w" {
  step "a" { run = ["deploy", "--", var.token] }
}
