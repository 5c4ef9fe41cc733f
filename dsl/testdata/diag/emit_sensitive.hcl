variable "token" {
  type      = string
  sensitive = true
}
workflow "w" {
  step "a" {
    emit {
      event = "done"
      data  = { token = var.token }
    }
  }
}
