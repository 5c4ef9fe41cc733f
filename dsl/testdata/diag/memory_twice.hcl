memory { groups = ["backend"] }
memory {
  consolidate_every = 5
}

agent "coder" {
  type    = "exec"
  command = ["coder"]
}

workflow "w" {
  step "a" {
    agent = agent.coder
    task  = "Do it."
  }
}
