variable "x" { default = "a" }
agent "a" {
  type = "shell"
  run  = ["echo", var.x]
}
workflow "w" {
  step "a" {
    agent = agent.a
  }
}
