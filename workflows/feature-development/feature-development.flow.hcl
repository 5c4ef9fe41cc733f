# Four patterns in one: a conductor divides a feature, agents build the parts at once, a reviewer sends the feature back until it is right,
# and a pipeline of stages ships the feature.

agent "conductor" {
  type    = "exec"
  command = ["./agents/conductor"]
}

agent "builder" {
  type    = "exec"
  command = ["./agents/builder"]
}

agent "integrator" {
  type    = "exec"
  command = ["./agents/integrator"]
}

agent "reviewer" {
  type    = "exec"
  command = ["./agents/reviewer"]
}

workflow "feature" {
  input "feature" {
    type    = string
    default = "Search in orders."
  }

  step "divide" {
    agent  = agent.conductor
    task   = "Divide the feature into parts: ${input.feature}"
    output = object({ parts = map(string) })
  }

  step "build" {
    for_each = step.divide.output.parts
    agent    = agent.builder
    task     = "Build the ${each.key}: ${each.value}"
    output   = object({ branch = string })
  }

  sequence "integration" {
    value      = step.integrate.output
    depends_on = [step.build]
    repeat {
      until = "step.review.output.accepted"
      max   = 3
    }

    step "integrate" {
      agent    = agent.integrator
      task     = "Merge the branches."
      with     = { branches = [for part in step.build.output : part.branch] }
      feedback = last.step.review.output.words
      output   = object({ commit = string })
    }

    step "review" {
      agent  = agent.reviewer
      with   = { commit = step.integrate.output.commit }
      output = object({ accepted = bool, words = string })
    }
  }

  sequence "release" {
    depends_on = [step.integration]

    step "test" { run = ["./agents/tests"] }
    step "stage" { run = ["./agents/deploy", "staging", step.integration.output.commit] }
    step "live" { run = ["./agents/deploy", "live", step.integration.output.commit] }
  }

  output "commit" { value = step.integration.output.commit }
}
