agent "a" {
  type    = "exec"
  command = ["agent"]
}
workflow "w" {
  step "write" {
    agent      = agent.a
    on_timeout = "hand_in"
  }
}
