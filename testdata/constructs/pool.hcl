# Agents of a pool share tasks: the strategy of the pool, the capabilities of a step, or an expression says who does what.
agent "ann" {
  type         = "exec"
  command      = ["agent"]
  capabilities = ["go"]
}

agent "ben" {
  type         = "exec"
  command      = ["agent"]
  capabilities = ["go", "gpu"]
  concurrency  = 1
}

agent "cat" {
  type         = "exec"
  command      = ["agent"]
  capabilities = ["go", "gpu", "review"]
}

pool "team" { members = [agent.ann, agent.ben, agent.cat] }

pool "turns" {
  members  = [agent.ann, agent.cat]
  strategy = "round_robin"
}

pool "fitting" {
  members  = [agent.ann, agent.ben, agent.cat]
  strategy = "capability"
}

workflow "share" {
  step "shared" {
    for_each   = range(5)
    agent      = pool.team
    with       = { number = each.value }
    depends_on = [step.fit]
  }

  step "turn" {
    for_each = range(4)
    agent    = pool.turns
    with     = { number = each.value }
  }

  step "fit" {
    agent        = pool.fitting
    capabilities = ["gpu"]
    with         = { kind = "transient", fails = 1 }
    retry {
      max_attempts = 2
      base_delay   = "10ms"
    }
  }

  step "named" {
    for_each = ["cat", "ann", "nobody"]
    agent    = pool.team[each.value]
    with     = { who = each.value }
    on_error = "continue"
  }

  step "either" {
    agent      = run.id == "" ? agent.ann : pool.team["cat"]
    with       = {}
    depends_on = [step.turn]
  }

  output "turns" { value = { for t in step.turn.instances : coalesce(t.agent, "nobody") => t.status... } }
  output "fit" { value = step.fit.agent }
  output "named" { value = [for t in step.named.instances : t.agent] }
  output "nobody" { value = step.named.instances[2].error.reason }
  output "either" { value = step.either.agent }
  output "team" { value = sum([for t in step.shared.instances : contains(["ann", "ben", "cat"], coalesce(t.agent, "nobody")) ? 1 : 0]) }
}
