variable "token" {
  type      = string
  sensitive = true
}

locals {
  login = { token = var.token, user = "bob" }
}

workflow "w" {
  step "log_in" {
    call = workflow.log_in
    with = local.login
  }
}

workflow "log_in" {
  input "token" {
    type      = string
    sensitive = true
  }
  input "user" { type = string }
  step "a" { run = ["log-in", "--", input.user, input.token] }
}
