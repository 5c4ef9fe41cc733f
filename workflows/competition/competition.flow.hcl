# Several agents solve the same task at once. When the time is up, each hands in what it has; the highest score wins.

agent "ann" {
  type    = "exec"
  command = ["ann"]
  timeout = "30m"
}

agent "bo" {
  type    = "exec"
  command = ["bo"]
  timeout = "30m"
}

agent "cy" {
  type    = "exec"
  command = ["cy"]
  timeout = "30m"
}

locals {
  # An agent without anything to hand in takes no part.
  nothing = { text = "", score = null }
}

workflow "compete" {
  input "task" { type = string }

  parallel "race" {
    winner = argmax({ ann = step.ann.output.score, bo = step.bo.output.score, cy = step.cy.output.score })

    step "ann" {
      agent      = agent.ann
      task       = input.task
      output     = object({ text = string, score = optional(number) })
      on_timeout = "hand_in"
      degrade { output = local.nothing }
    }

    step "bo" {
      agent      = agent.bo
      task       = input.task
      output     = object({ text = string, score = optional(number) })
      on_timeout = "hand_in"
      degrade { output = local.nothing }
    }

    step "cy" {
      agent      = agent.cy
      task       = input.task
      output     = object({ text = string, score = optional(number) })
      on_timeout = "hand_in"
      degrade { output = local.nothing }
    }
  }

  output "winner" { value = step.race.winner }
  output "text" { value = try(step.race.output[step.race.winner].text, null) }
}
