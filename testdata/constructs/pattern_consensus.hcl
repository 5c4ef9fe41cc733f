# Votes that decide, votes that a tie breaker decides, and votes that decide nothing. A null abstains, and so
# does a participant that fails.

agent "ann" {
  type    = "exec"
  command = ["agent"]
}

agent "bo" {
  type    = "exec"
  command = ["agent"]
}

agent "c-y" {
  type    = "exec"
  command = ["agent"]
}

agent "silent" {
  type    = "exec"
  command = ["agent"]
}

pool "all" { members = [agent.ann, agent.bo, agent.c-y] }

workflow "w" {
  consensus "most" {
    participants = [pool.all]
    task         = "Which?"
    vote         = result.agent == "bo" ? "second" : "first"
  }

  consensus "weighted" {
    participants = [pool.all, agent.silent]
    vote         = result.agent == "silent" ? null : result.agent != "bo"
    method       = "weighted"
    weights      = { ann = 0.3, bo = 0.2, c-y = 0.4, silent = 0.1 }
    threshold    = 0.7
    depends_on   = [step.most]
  }

  consensus "each" {
    for_each     = ["one", "two"]
    participants = [agent.ann, agent.bo]
    with         = { of = each.value }
    vote         = try(result.output.with.votes.ann, result.agent)
    tie_breaker  = agent.c-y
    depends_on   = [step.weighted]
  }

  consensus "nothing" {
    participants = [agent.ann, agent.silent, agent.bo]
    vote         = result.agent == "silent" ? null : result.agent
    quorum       = 2
    depends_on   = [step.each]
    on_error     = "continue"
  }

  consensus "few" {
    participants = [agent.ann, agent.bo]
    with         = { fails = 9 }
    vote         = true
    depends_on   = [step.nothing]
    degrade { output = { decision = false } }
  }

  output "most" { value = step.most.output.decision }
  output "weighted" { value = step.weighted.output }
  output "each" { value = [for c in step.each.output : c.decision] }
  output "nothing" { value = [step.nothing.error.kind, step.nothing.error.reason, step.nothing.error.message] }
  output "few" { value = step.few.output.decision }
}
