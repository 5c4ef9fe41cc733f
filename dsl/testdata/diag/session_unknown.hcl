agent "a" {
  type           = "exec"
  command        = ["coder"]
  resume_session = ["--resume", "{session}"]
}

agent "b" {
  type          = "exec"
  command       = ["coder"]
  new_session   = ["--session-id", "{session}"]
  output_format = "assistant"
}

agent "c" {
  type           = "shell"
  run            = "coder"
  resume_session = ["--resume", "{session}"]
}

workflow "w" {
  step "s" {
    agent = agent.a
    task  = "Do it."
  }
}
