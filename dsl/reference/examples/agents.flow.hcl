agent "writer" {
  type          = "exec"
  command       = ["claude", "-p"]
  input         = "text"
  output_format = "text"
  soul          = "You write short, exact English."
  heartbeat     = "5m"
}

workflow "agents" {
  step "write" {
    agent      = agent.writer
    task       = "Write the release notes."
    timeout    = "20m"
    on_timeout = "hand_in"
    on_lost    = "fail"
  }
}
