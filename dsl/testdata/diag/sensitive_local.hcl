variable "token" {
  type      = string
  sensitive = true
}
locals {
  header = "Bearer ${var.token}"
}
workflow "w" {
  step "a" { value = { header = local.header } }
}
