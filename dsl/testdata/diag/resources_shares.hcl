agent "x" {
  type    = "exec"
  command = ["x"]
  resources { cpu_shares = 1 }
}

workflow "w" {
  step "a" { agent = agent.x }
}
