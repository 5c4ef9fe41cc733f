variable "token" {
  type      = string
  sensitive = true
}

workflow "w" {
  step "a" {
    handoff {
      to      = "leo"
      summary = "the token is ${var.token}"
      next    = "go on"
    }
    retry { max_attempts = 2 }
  }
}
