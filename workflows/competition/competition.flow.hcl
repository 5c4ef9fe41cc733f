# Several agents solve the same task at once. When the time is over, each agent hands in its work; the highest score wins.

agent "ann" {
  type    = "exec"
  command = ["./agents/solver", "ann"]
  output  = object({ text = string, score = number })
}

agent "bo" {
  type    = "exec"
  command = ["./agents/solver", "bo"]
  output  = object({ text = string, score = number })
}

agent "cy" {
  type    = "exec"
  command = ["./agents/solver", "cy"]
  output  = object({ text = string, score = number })
}

workflow "compete" {
  input "task" {
    type    = string
    default = "Find a faster way."
  }

  compete "race" {
    agents  = [agent.ann, agent.bo, agent.cy]
    task    = input.task
    score   = result.output.score
    timeout = "30m"
  }

  output "winner" { value = step.race.winner }
  output "text" { value = step.race.output.text }
}
