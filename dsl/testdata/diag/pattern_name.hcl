agent "author" { type = "null" }
agent "critic" { type = "null" }

workflow "w" {
  feedback "draft" {
    producer = agent.author
    reviewer = agent.critic
    accept   = "review.output == 'yes'"
  }

  parallel "all" {
    step "Draft_Product" { value = 1 }
  }

  step "use" { value = "${step.draft.output.text} ${step.draft.iterations} ${step.nobody.output}" }
}
