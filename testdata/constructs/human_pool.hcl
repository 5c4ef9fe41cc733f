# A pool that chooses a person waits for no slot, and holds none: people are asked while a program has the only slot of the run.

agent "ann" {
  type    = "human"
  timeout = "100ms"
}

agent "bot" {
  type         = "exec"
  command      = ["agent"]
  capabilities = ["go"]
}

pool "team" {
  members  = [agent.bot, agent.ann]
  strategy = "capability"
}

workflow "label" {
  max_concurrency = 1

  step "slow" { run = ["sleep", "0.3"] }

  step "pictures" {
    for_each        = ["cat", "dog"]
    max_concurrency = 1
    agent           = pool.team
    task            = "Is it a ${each.value}?"
    degrade { output = error.reason }
  }

  step "after" {
    run        = ["say", jsonencode(step.pictures.output)]
    depends_on = [step.pictures]
  }

  output "agents" { value = [for p in step.pictures.instances : p.agent] }
  output "pictures" { value = step.pictures.output }
}
