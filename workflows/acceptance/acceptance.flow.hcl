# Work counts only when it meets all criteria: each criterion is a gate. The run names the gate that did not pass, and the author gets its message.
# Put your own commands into the gates: exit code 0 passes.

agent "author" {
  type    = "exec"
  command = ["./agents/author"]
}

gate "tests_pass" {
  run     = ["./agents/tests"]
  message = "the tests do not pass"
  on_fail = "retry"
}

gate "no_vulnerabilities" {
  run     = ["./agents/scanner"]
  message = "the scanner has found a vulnerability"
  on_fail = "retry"
}

gate "fast_enough" {
  check   = "result.output.seconds <= 2"
  message = "${result.output.seconds} s is too slow: 2 s is the limit"
  on_fail = "retry"
}

workflow "acceptance" {
  input "task" {
    type    = string
    default = "Speed up the search."
  }

  step "write" {
    agent  = agent.author
    task   = input.task
    output = object({ seconds = number })
    gates  = [gate.tests_pass, gate.no_vulnerabilities, gate.fast_enough]
    retry { max_attempts = 3 }
  }

  output "seconds" { value = step.write.output.seconds }
}
