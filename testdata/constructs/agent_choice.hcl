# Which of two agents has a task may depend on a condition.
agent "quick" {
  type    = "exec"
  command = ["agent"]
}

agent "thorough" {
  type    = "exec"
  command = ["agent"]
}

workflow "choose" {
  step "task" {
    for_each = ["small", "large"]
    agent    = each.value == "large" ? agent.thorough : agent.quick
    with     = { size = each.value }
  }

  output "agents" { value = [for t in step.task.instances : t.agent] }
}
