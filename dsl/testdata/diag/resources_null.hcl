agent "x" {
  type = "null"
  resources { cpu_shares = 512 }
}

workflow "w" {
  step "a" { agent = agent.x }
}
