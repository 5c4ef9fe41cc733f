variable "port" {
  type    = number
  default = 80
  validation {
    condition = "var.port > 1024"
    message   = "ports up to 1024 belong to the system"
  }
}
workflow "w" {
  step "a" { run = ["true"] }
}
