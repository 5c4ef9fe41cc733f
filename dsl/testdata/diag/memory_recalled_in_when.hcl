memory {}

agent "coder" {
  type    = "exec"
  command = ["coder"]
}

workflow "w" {
  step "a" {
    agent = agent.coder
    task  = "Do it."
    when  = "recalled.count > 0"
    gate "used" { check = "recalled.cuont > 0 && 'M-1' in recalled.ids" }
  }
}
