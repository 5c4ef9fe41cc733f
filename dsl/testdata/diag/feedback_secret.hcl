variable "token" {
  type      = string
  sensitive = true
}
agent "a" {
  type    = "exec"
  command = ["agent"]
}
workflow "w" {
  step "write" {
    agent    = agent.a
    feedback = var.token
  }
}
