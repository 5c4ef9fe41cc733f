# Agents that are people: nobody does the task in time, so the next agent does it; a person in a pool is asked like any member.

agent "ann" {
  type    = "human"
  timeout = "100ms"
  output  = object({ label = string })
}

agent "bob" { type = "human" }

agent "stand_in" { type = "null" }

pool "team" { members = [agent.bob, agent.stand_in] }

workflow "label" {
  step "picture" {
    agent    = agent.ann
    fallback = [agent.stand_in]
    task     = "What is in the picture?"
    with     = { label = "cat" }
  }

  step "chosen" {
    agent   = pool.team["bob"]
    task    = "Is it a cat?"
    timeout = "50ms"
    degrade { output = error.reason }
  }

  output "label" { value = step.picture.output.label }
  output "agent" { value = step.picture.agent }
  output "chosen" { value = step.chosen.output }
}
