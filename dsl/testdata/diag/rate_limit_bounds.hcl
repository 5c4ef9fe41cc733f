agent "dev" {
  type    = "exec"
  command = ["dev"]
  rate_limit {
    requests = 0
    per      = 60
  }
}

workflow "w" {
  step "a" { agent = agent.dev }
}
