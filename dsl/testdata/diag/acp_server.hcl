agent "coder" {
  type    = "acp"
  command = ["coder"]
  timeout = "5m"
  server "a" {
    command = ["x"]
    tools   = ["t"]
    dir     = "d"
  }
  server "b" {
    url     = "http://localhost/mcp"
    headers = { A = "b" }
  }
}

workflow "w" {
  step "a" {
    agent = agent.coder
    task  = "x"
  }
}
