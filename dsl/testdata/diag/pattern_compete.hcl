agent "ann" {
  type   = "null"
  output = object({ text = string, score = number })
}

agent "bo" {
  type   = "null"
  output = string
}

workflow "w" {
  compete "a" {
    agents = [agent.ann, agent.bo]
    score  = result.output.score
    join   = "frist_success"
  }

  compete "b" {
    agents = [agent.ann]
    score  = result.output.text
    gates  = [gate.none]
  }

  step "use" { value = [step.b.output.score, step.b.output.scor, step.b.winner.name] }
}
