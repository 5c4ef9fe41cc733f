# The highest score wins, the first success wins, and nobody wins.

agent "ann" {
  type    = "exec"
  command = ["agent"]
  timeout = "20s"
}

agent "bo" {
  type    = "exec"
  command = ["agent"]
}

agent "silent" {
  type    = "exec"
  command = ["agent"]
}

pool "both" { members = [agent.ann, agent.bo] }

workflow "w" {
  compete "best" {
    agents  = [agent.silent, pool.both]
    task    = "Solve it."
    with    = { of = "best" }
    score   = result.agent == "silent" ? null : result.agent == "bo" ? 2 : 1
    timeout = "30s"
  }

  compete "first" {
    agents     = [agent.ann]
    with       = { of = "first" }
    depends_on = [step.best]
  }

  compete "each" {
    for_each   = { a = "ann", b = "bo" }
    agents     = [pool.both]
    with       = { wanted = each.value }
    score      = result.agent == result.output.with.wanted ? 1 : null
    depends_on = [step.first]
  }

  compete "nobody" {
    agents     = [agent.ann, agent.bo]
    with       = { fails = 9 }
    score      = 1
    depends_on = [step.each]
    on_error   = "continue"
  }

  output "best" { value = [step.best.winner, step.best.output.with.of] }
  output "first" { value = [step.first.winner, step.first.output.with.of] }
  output "each" { value = { for k, r in step.each.instances : k => [r.winner, r.output.with.wanted] } }
  output "nobody" { value = [step.nobody.error.kind, step.nobody.error.reason] }
}
