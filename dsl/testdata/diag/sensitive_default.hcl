variable "token" {
  type      = string
  sensitive = true
  default   = "hunter22"
}
workflow "w" {
  step "a" { run = ["deploy", "--", var.token] }
}
