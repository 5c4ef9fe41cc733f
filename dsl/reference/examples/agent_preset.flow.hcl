agent "writer" {
  preset  = "claude"
  timeout = "10m" # in place of the preset's
}

workflow "agent_preset" {
  step "write" {
    agent = agent.writer
    task  = "Write the release notes into NOTES.md."
  }
}
