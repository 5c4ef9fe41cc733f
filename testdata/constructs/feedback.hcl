# A gate's verdict goes back to the agent as feedback.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

gate "long_enough" {
  check   = "result.output.attempt >= 3"
  message = "attempt ${result.output.attempt} is not enough"
  on_fail = "retry"
}

workflow "improve" {
  step "write" {
    agent = agent.worker
    with  = { said = feedback }
    gates = [gate.long_enough]
  }

  output "heard" { value = step.write.output.feedback }
}
