variable "token" {
  type      = string
  sensitive = true
}
agent "coder" {
  type    = "exec"
  command = ["coder"]
  soul    = "You know ${var.token}."
}

workflow "w" {
  step "a" {
    agent = agent.coder
    task  = "Do it."
  }
}
