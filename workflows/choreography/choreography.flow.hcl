# Agents react to events, without a central order: pushed code is tested, a failed test is fixed, and code that passes is deployed.
# Other runs and programs take part with the same events:
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

workflow "react" {
  timeout = "1d"

  # The first push. Leave it empty to wait for those of others.
  input "commit" {
    type    = string
    default = "1a2b"
  }

  step "announce" {
    emit {
      event = "code.pushed"
      data  = { commit = input.commit }
    }
    when = "input.commit != ''"
  }

  parallel "team" {
    sequence "test" {
      repeat { max = 50 }

      step "pushed" {
        wait {
          event = "code.pushed"
          data  = object({ commit = string })
        }
      }

      step "run_tests" {
        agent = agent.tester
        task  = "Run all tests of commit ${step.pushed.output.commit}."
      }

      step "failed" {
        emit {
          event = "test.failed"
          key   = step.pushed.output.commit
          data  = { commit = step.pushed.output.commit, why = step.run_tests.output.why }
        }
        when = "!step.run_tests.output.passed"
      }

      step "ready" {
        emit {
          event = "deployment.ready"
          key   = step.pushed.output.commit
          data  = { commit = step.pushed.output.commit }
        }
        when = "step.run_tests.output.passed"
      }
    }

    sequence "fix" {
      repeat { max = 50 }

      step "broken" {
        wait {
          event = "test.failed"
          data  = object({ commit = string, why = string })
        }
      }

      step "mend" {
        agent = agent.fixer
        task  = "Commit ${step.broken.output.commit} fails: ${step.broken.output.why}. Mend it."
      }

      step "push" {
        emit {
          event = "code.pushed"
          data  = { commit = step.mend.output.commit }
        }
      }
    }

    sequence "deploy" {
      step "passed" {
        wait {
          event = "deployment.ready"
          data  = object({ commit = string })
        }
      }

      step "release" {
        agent = agent.deployer
        task  = "Deploy commit ${step.passed.output.commit}."
      }

      # Who still waits for an event is not needed any more.
      step "done" {
        end { message = "commit ${step.passed.output.commit} is deployed" }
        depends_on = [step.release]
      }
    }
  }

  output "deployed" { value = step.passed.output.commit }
}
