agent "a" {
  type          = "shell"
  run           = "coder"
  output_format = "text"
  keep_session  = true
}

workflow "w" {
  step "s" {
    agent = agent.a
    task  = "Do it."
  }
}
