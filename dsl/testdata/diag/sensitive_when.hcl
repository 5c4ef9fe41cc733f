variable "token" {
  type      = string
  sensitive = true
}
workflow "w" {
  step "a" {
    run  = ["true"]
    when = "var.token != ''"
  }
}
