agent "x" {
  type    = "exec"
  command = ["x"]
  resources { memory = "64MB of memory" }
}

workflow "w" {
  step "a" { agent = agent.x }
}
