variable "token" {
  type      = string
  sensitive = true
}
workflow "w" {
  step "a" {
    remember { text = "The token is ${var.token}." }
  }
}
