variable "token" {
  type      = string
  sensitive = true
}
workflow "w" {
  step "a" { run = ["deploy", "--", var.token] }
  output "token" { value = var.token }
}
