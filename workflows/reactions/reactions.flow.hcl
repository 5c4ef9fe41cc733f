# Each event starts the workflow that reacts to it, without a central order: pushed code is tested, a failed test is fixed, and
# code that passes is deployed. apply ends when no event is left; a daemon (flowrun serve) reacts until it is stopped:
#
#   flowrun emit code.pushed --data '{"commit": "1a2b"}'

agent "tester" {
  type    = "exec"
  command = ["./agents/tester"]
  output  = object({ passed = bool, why = string })
}

agent "fixer" {
  type    = "exec"
  command = ["./agents/fixer"]
  output  = object({ commit = string })
}

agent "deployer" {
  type    = "exec"
  command = ["./agents/deployer"]
}

# The first push. Others push with flowrun emit.
workflow "push" {
  default = true

  input "commit" {
    type    = string
    default = "1a2b"
  }

  step "announce" {
    emit {
      event = "code.pushed"
      data  = { commit = input.commit }
    }
  }
}

on "code.pushed" {
  workflow = workflow.test
  data     = object({ commit = string })
  with     = { commit = event.commit }
}

workflow "test" {
  input "commit" { type = string }

  step "run_tests" {
    agent = agent.tester
    task  = "Run all tests of commit ${input.commit}."
  }

  step "failed" {
    emit {
      event = "test.failed"
      key   = input.commit
      data  = { commit = input.commit, why = step.run_tests.output.why }
    }
    when = "!step.run_tests.output.passed"
  }

  step "ready" {
    emit {
      event = "deployment.ready"
      key   = input.commit
      data  = { commit = input.commit }
    }
    when = "step.run_tests.output.passed"
  }
}

on "test.failed" {
  workflow = workflow.fix
  data     = object({ commit = string, why = string })
  with     = { commit = event.commit, why = event.why }
}

workflow "fix" {
  input "commit" { type = string }
  input "why" { type = string }

  step "mend" {
    agent = agent.fixer
    task  = "Commit ${input.commit} fails: ${input.why}. Mend it."
  }

  step "push_again" {
    emit {
      event = "code.pushed"
      data  = { commit = step.mend.output.commit }
    }
  }
}

on "deployment.ready" {
  workflow = workflow.deploy
  data     = object({ commit = string })
  with     = { commit = event.commit }
}

# Deployments take turns.
workflow "deploy" {
  concurrency { group = "deploy" }

  input "commit" { type = string }

  step "release" {
    agent = agent.deployer
    task  = "Deploy commit ${input.commit}."
  }
}
