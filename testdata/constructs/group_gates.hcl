# Gates judge the result of a group. One with on_fail = "retry" has all of the group made again, and the agents in it hear why.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

gate "explained" {
  check   = "result.output.why != ''"
  message = "say why"
  on_fail = "retry"
}

gate "program" {
  run     = ["true"]
  on_fail = "warn"
}

workflow "judged" {
  parallel "work" {
    gates = [gate.explained, gate.program]
    value = { why = try(step.write.output.feedback, "") }
    retry { max_attempts = 4 }

    step "write" { agent = agent.worker }

    step "count" { value = iteration }
  }

  output "heard" { value = step.work.output.why }
  output "rounds" { value = step.work.iterations }
}
