variable "token" {
  type      = string
  sensitive = true
}
workflow "w" {
  sequence "all" {
    value = var.token
    step "a" { run = ["true"] }
  }
}
