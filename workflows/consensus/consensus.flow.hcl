# Several agents vote, and a rule decides. Each workflow here has another rule. A voter that fails abstains.
# Put your own commands into the voter; its soul, task or with tells it whose view it takes.

agent "voter" {
  type    = "exec"
  command = ["voter"]
  output  = object({ approve = bool })
}

locals {
  voters = ["architect", "backend", "frontend", "security", "operations"]
}

# More than half of the votes decide.
workflow "majority" {
  default = true
  input "question" { type = string }

  step "ask" {
    for_each = { for v in local.voters : v => v }
    agent    = agent.voter
    task     = input.question
    with     = { voter = each.value }
    on_error = "continue"
  }

  step "count" { value = vote({ for v, answer in step.ask.output : v => try(answer.approve, null) }, { method = "majority" }) }

  output "approved" { value = step.count.output.decision }
  output "share" { value = step.count.output.share }
  output "abstained" { value = step.count.output.abstained }
}

# One no is enough to refuse.
workflow "unanimous" {
  input "question" { type = string }

  step "ask" {
    for_each = { for v in local.voters : v => v }
    agent    = agent.voter
    task     = input.question
    with     = { voter = each.value }
  }

  step "count" { value = vote({ for v, answer in step.ask.output : v => answer.approve }, { method = "unanimous" }) }

  output "approved" { value = step.count.output.decision }
}

# The weights of those who approve must reach three quarters of all weight.
workflow "weighted" {
  input "question" { type = string }

  step "ask" {
    for_each = { architect = 0.4, backend = 0.2, frontend = 0.2, operations = 0.2 }
    agent    = agent.voter
    task     = input.question
    with     = { voter = each.key }
  }

  step "count" {
    value = vote({ for v, answer in step.ask.output : v => answer.approve }, {
      method    = "weighted"
      threshold = 0.75
      weights   = { architect = 0.4, backend = 0.2, frontend = 0.2, operations = 0.2 }
    })
  }

  output "approved" { value = step.count.output.decision }
}
