agent "dev" {
  type    = "exec"
  command = ["dev"]
  rate_limit {
    requests = 10
  }
}

workflow "w" {
  step "a" { agent = agent.dev }
}
