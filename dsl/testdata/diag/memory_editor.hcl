memory {
  editor = agent.edtior
}
agent "editor" {
  type    = "exec"
  command = ["editor"]
}
agent "coder" {
  type    = "exec"
  command = ["coder"]
}
workflow "w" {
  step "a" { agent = agent.coder }
}
