agent "ann" {
  type = "null"
}
agent "ben" {
  type = "null"
}
pool "team" {
  members = [agent.ann, agent.ben]
}
workflow "w" {
  step "pick" {
    run   = ["pick"]
    parse = "json"
    when  = "run.id != ''"
    output = object({ who = optional(string) })
  }
  step "a" {
    agent = pool.team[step.pick.output.who]
  }
}
