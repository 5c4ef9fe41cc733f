# The pattern fits the task: an agent says how complex the task is, whether its parts depend on each other, how reliable the result must be,
# and how urgent it is. Rules propose a pattern, with the reason, and the run does the task by this pattern. Each pattern is a separate workflow.
#
#   flowrun apply . propose --input dependencies=independent --input time=urgent

agent "analyst" {
  type    = "exec"
  command = ["./agents/analyst"]
}

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
}

agent "reviewer" {
  type    = "exec"
  command = ["./agents/reviewer"]
  output  = object({ accepted = bool, words = string })
}

workflow "choose" {
  default = true

  input "task" {
    type    = string
    default = "Write the page about prices."
  }

  step "look" {
    agent = agent.analyst
    task  = "How complex is this, which parts has it, and do they depend on each other? ${input.task}"
    output = object({
      parts        = list(string)
      complexity   = string
      dependencies = string
      reliability  = string
      time         = string
    })
  }

  step "propose" {
    call = workflow.propose
    with = { complexity = step.look.output.complexity, dependencies = step.look.output.dependencies, reliability = step.look.output.reliability, time = step.look.output.time }
  }

  switch "work" {
    case {
      when = "step.propose.output.pattern == 'delegation'"
      step "delegation" {
        call = workflow.delegation
        with = { parts = step.look.output.parts }
      }
    }

    case {
      when = "step.propose.output.pattern == 'feedback'"
      step "feedback" {
        call = workflow.feedback
        with = { parts = step.look.output.parts }
      }
    }

    case {
      when = "step.propose.output.pattern == 'parallel'"
      step "parallel" {
        call = workflow.parallel
        with = { parts = step.look.output.parts }
      }
    }

    default {
      step "sequential" {
        call = workflow.sequential
        with = { parts = step.look.output.parts }
      }
    }
  }

  output "pattern" { value = step.propose.output.pattern }
  output "why" { value = step.propose.output.why }
}

# The rules, the strongest first: work that must be right is reviewed, work that is too large is divided, and only then time counts.
workflow "propose" {
  input "complexity" {
    type    = string
    enum    = ["simple", "complex"]
    default = "simple"
  }

  input "dependencies" {
    type    = string
    enum    = ["independent", "dependent"]
    default = "dependent"
  }

  input "reliability" {
    type    = string
    enum    = ["normal", "high"]
    default = "normal"
  }

  input "time" {
    type    = string
    enum    = ["flexible", "urgent"]
    default = "flexible"
  }

  step "rule" {
    value = (input.reliability == "high" ? { pattern = "feedback", why = "the result must be reliable, so a reviewer judges each round" }
      : input.complexity == "complex" ? { pattern = "delegation", why = "the task is complex, so each part has an agent and a review of its own" }
      : input.dependencies == "independent" ? { pattern = "parallel", why = "the parts are independent${input.time == "urgent" ? " and it is urgent" : ""}, so they are done at once" }
      : { pattern = "sequential", why = "each part builds on the one before${input.time == "urgent" ? ", however urgent it is" : ""}" })
  }

  output "pattern" { value = step.rule.output.pattern }
  output "why" { value = step.rule.output.why }
}

# One part after the other, each with the result of the one before.
workflow "sequential" {
  input "parts" { type = list(string) }

  sequence "each" {
    repeat {
      until = "iteration >= len(input.parts)"
      max   = 100
    }

    step "part" {
      agent = agent.worker
      task  = input.parts[iteration - 1]
      with  = { before = try(last.step.part.output, null) }
    }
  }
}

# All parts at once.
workflow "parallel" {
  input "parts" { type = list(string) }

  step "part" {
    for_each = input.parts
    agent    = agent.worker
    task     = each.value
  }
}

# Each part has a run of its own, with a review.
workflow "delegation" {
  input "parts" { type = list(string) }

  step "part" {
    for_each = input.parts
    call     = workflow.feedback
    with     = { parts = [each.value] }
  }
}

# The whole is done again until the reviewer accepts it.
workflow "feedback" {
  input "parts" { type = list(string) }

  feedback "review" {
    producer       = agent.worker
    task           = join("\n", input.parts)
    reviewer       = agent.reviewer
    accept         = "review.output.accepted"
    max_iterations = 3
  }
}
