# The tests run. If they fail, an agent repairs the code, and the tests run again, at most five times.
# Put in your own test command and your own agent.

agent "fixer" {
  type    = "exec"
  command = ["./agents/fixer"]
  timeout = "30m"
}

workflow "fix" {
  sequence "rounds" {
    value = step.tests.stdout
    repeat {
      until = "step.tests.status == 'succeeded'"
      max   = 5
    }

    step "tests" {
      run      = ["./agents/tests"]
      on_error = "continue"
    }

    step "fix" {
      agent = agent.fixer
      task  = "The tests fail. Mend the code."
      with  = { said = "${step.tests.stdout}${step.tests.stderr}", round = iteration }
      when  = "step.tests.status == 'failed'"
    }
  }

  output "rounds" { value = step.rounds.iterations }
}
