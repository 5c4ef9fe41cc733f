agent "a" {
  type    = "exec"
  command = ["cat"]
  shell   = "bash"
}

workflow "w" {
  step "a" { agent = agent.a }
}
