# A feedback that is repeated as a whole, and undone as a whole: its rounds are in a sequence inside.
agent "author" { type = "null" }

agent "critic" {
  type   = "null"
  output = object({ words = optional(string) })
}

workflow "write" {
  feedback "draft" {
    producer       = agent.author
    reviewer       = agent.critic
    accept         = "iteration == 2"
    max_iterations = 3
    task           = "Write."
    repeat {
      max   = 3
      until = "iteration == 2"
    }
    compensate { run = ["say", "withdrawn"] }
  }

  step "fails" {
    run        = ["exit", "1"]
    depends_on = [step.draft]
  }

  output "repeats" { value = step.draft.iterations }
}
