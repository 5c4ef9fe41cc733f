agent "writer" {
  type    = "exec"
  command = ["./agent"]
  timeout = "20m"
}

workflow "w" {
  sequence "round" {
    step "write" {
      agent    = agent.writer
      task     = "Write the page."
      feedback = last.step.check.stderr
    }

    step "check" {
      run      = ["./check"]
      on_error = "continue"
    }

    repeat {
      until = "step.check.status == 'succeeded'"
      max   = 5
    }
  }
}
