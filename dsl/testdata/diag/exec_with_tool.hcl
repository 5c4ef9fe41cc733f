agent "x" {
  type    = "exec"
  command = ["x"]
  timeout = "5m"
  tool    = "search"
  permission { allow = true }
}

workflow "w" {
  step "a" { agent = agent.x }
}
