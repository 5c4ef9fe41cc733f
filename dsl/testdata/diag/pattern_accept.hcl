agent "author" {
  type   = "null"
  output = object({ text = string })
}

agent "critic" {
  type   = "null"
  output = object({ accepted = bool })
}

workflow "w" {
  feedback "draft" {
    producer       = agent.author
    reviewer       = agent.critik
    accept         = "review.output.accepted && product.output.txt != ''"
    max_iterations = 0
    task           = "Write about ${input.topic}"
    with           = { now = product.output, earlier = step.nobody.output }
    value          = review.output.acepted
    budget { attempts = 0 }
  }

  step "say" { value = step.draft.output }
  step "see" { value = product.output }
  step "and" { value = step.draft_review.output }
}
