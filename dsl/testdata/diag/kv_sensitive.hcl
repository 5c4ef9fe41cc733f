variable "token" {
  type      = string
  sensitive = true
}
workflow "w" {
  step "a" {
    kv {
      set   = "token"
      value = var.token
    }
  }
}
