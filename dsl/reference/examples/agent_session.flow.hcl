agent "coder" {
  type           = "exec"
  command        = ["coder", "--json"]
  timeout        = "30m"
  new_session    = ["--session-id", "{session}"]
  resume_session = ["--resume", "{session}"]
  keep_session   = true
}

gate "tests" {
  run     = "make test"
  on_fail = "retry"
}

workflow "fix" {
  input "issue" { type = string }

  step "write" {
    agent = agent.coder
    task  = "Fix ${input.issue}."
    gates = [gate.tests]
  }
}
