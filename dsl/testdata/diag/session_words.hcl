agent "a" {
  type           = "exec"
  command        = ["coder"]
  output_format  = "assistant"
  new_session    = ["--session-id"]
  resume_session = ["--resume", "$${session}"]
}

workflow "w" {
  step "s" {
    agent = agent.a
    task  = "Do it."
  }
}
