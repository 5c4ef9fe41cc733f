locals {
  a = step.a.output
}

agent "x" {
  type = "null"
  retry { when = "step.a.status == 'failed'" }
}

workflow "w" {
  retry { when = "step.a.status == 'failed'" }

  step "a" { value = local.a }

  step "b" {
    agent = agent.x
    retry { when = "step.a.status == 'failed'" }
  }
}
