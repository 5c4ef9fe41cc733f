agent "ann" {
  type    = "exec"
  command = ["./ann"]
  timeout = "10m"
}

agent "bob" {
  type    = "exec"
  command = ["./bob"]
  timeout = "10m"
}

agent "eva" {
  type    = "exec"
  command = ["./eva"]
  timeout = "10m"
}

gate "short" {
  check = "len(string(result.output)) < 2000"
}

workflow "patterns" {
  compete "draft" {
    agents = [agent.ann, agent.bob]
    task   = "Write the announcement."
    with   = { words = 100 }
    join   = 1
    gates  = [gate.short]
  }

  consensus "choose" {
    participants = [agent.ann, agent.bob]
    task         = "Is this fit to print? Answer yes or no."
    with         = { text = step.draft.output }
    quorum       = 2
    tie_breaker  = agent.eva
  }

  feedback "polish" {
    producer       = agent.ann
    reviewer       = agent.bob
    task           = "Polish the announcement."
    with           = { text = step.draft.output }
    accept         = "review.output.ok"
    max_iterations = 3
    timeout        = "1h"
    gates          = [gate.short]
    value          = { text = product.output, words = review.output }
  }
}
