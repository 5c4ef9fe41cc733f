# An agent whose time is up hands in what it has so far. Who reads the output can ask whether it is all of it.
agent "worker" {
  type    = "exec"
  command = ["agent"]
  timeout = "1m"
}

workflow "hand_in" {
  step "write" {
    agent      = agent.worker
    on_timeout = "hand_in"
    on_error   = "continue"
  }

  output "whole" { value = step.write.status == "succeeded" && !step.write.partial }
}
