agent "coder" {
  type    = "acp"
  command = ["coder"]
  timeout = "5m"
  permission {
    kinds = ["write"]
    paths = ["/etc/**"]
    allow = true
  }
}

workflow "w" {
  step "a" { agent = agent.coder }
}
