agent "x" {
  type    = "exec"
  command = ["x"]
  resources { priority = "highest" }
}

workflow "w" {
  step "a" { agent = agent.x }
}
