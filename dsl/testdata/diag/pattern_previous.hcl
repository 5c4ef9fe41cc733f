agent "author" { type = "null" }
agent "critic" { type = "null" }

workflow "w" {
  sequence "all" {
    feedback "draft" {
      producer = agent.author
      reviewer = agent.critic
      accept   = "review.output == 'yes'"
      task     = "Write about ${previous.output}."
    }

    feedback "more" {
      producer = agent.author
      reviewer = agent.critic
      accept   = "review.output == 'yes'"
      task     = "Write about ${previous.output} and ${previous.otput}."
    }
  }
}
