agent "clerk" {
  type      = "exec"
  command   = ["x"]
  max_turns = 2
  server "a" {
    command = ["x"]
    tools   = ["t"]
  }
}

workflow "w" {
  step "a" {
    agent = agent.clerk
    task  = "x"
  }
}
