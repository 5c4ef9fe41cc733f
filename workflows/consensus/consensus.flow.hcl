# Several agents vote, and a rule decides. Each workflow here has a different rule. A voter that fails abstains.
# Put your own commands into the voters; the soul of a voter tells the voter whose view to take.

agent "architect" {
  type    = "exec"
  command = ["./agents/voter", "architect"]
  output  = object({ approve = bool })
}

agent "backend" {
  type    = "exec"
  command = ["./agents/voter", "backend"]
  output  = object({ approve = bool })
}

agent "frontend" {
  type    = "exec"
  command = ["./agents/voter", "frontend"]
  output  = object({ approve = bool })
}

agent "security" {
  type    = "exec"
  command = ["./agents/voter", "security"]
  output  = object({ approve = bool })
}

agent "operations" {
  type    = "exec"
  command = ["./agents/voter", "operations"]
  output  = object({ approve = bool })
}

pool "voters" { members = [agent.architect, agent.backend, agent.frontend, agent.security, agent.operations] }

# More than half of the votes decide.
workflow "majority" {
  default = true
  input "question" {
    type    = string
    default = "Ship it?"
  }

  consensus "ship" {
    participants = [pool.voters]
    task         = input.question
    vote         = result.output.approve
    timeout      = "10m"
  }

  output "approved" { value = step.ship.output.decision }
  output "share" { value = step.ship.output.share }
  output "abstained" { value = step.ship.output.abstained }
}

# One no is enough to refuse.
workflow "unanimous" {
  input "question" {
    type    = string
    default = "Ship it?"
  }

  consensus "ship" {
    participants = [pool.voters]
    task         = input.question
    vote         = result.output.approve
    method       = "unanimous"
  }

  output "approved" { value = step.ship.output.decision }
}

# The weights of those who approve must reach three quarters of all weight.
workflow "weighted" {
  input "question" {
    type    = string
    default = "Ship it?"
  }

  consensus "ship" {
    participants = [agent.architect, agent.backend, agent.frontend, agent.operations]
    task         = input.question
    vote         = result.output.approve
    method       = "weighted"
    threshold    = 0.75
    weights      = { architect = 0.4, backend = 0.2, frontend = 0.2, operations = 0.2 }
  }

  output "approved" { value = step.ship.output.decision }
}
