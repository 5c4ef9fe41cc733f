# vote counts votes by a rule: a null abstains, and the decision is null where no option has enough.
# argmax gives the name of the best.
workflow "vote" {
  input "votes" {
    type    = any
    default = { ann = "keep", bo = "drop", cy = "keep", di = null }
  }

  step "count" {
    value = vote(input.votes, { method = "majority", threshold = 0.6, quorum = 3 })
  }

  step "score" {
    value = vote({ ann = { keep = 1, drop = 4 }, bo = { keep = 2, drop = 1 } }, { method = "score" })
  }

  step "best" {
    value = argmax({ ann = 0.7, bo = 0.9, cy = null })
  }

  output "decision" { value = step.count.output.decision }
  output "share" { value = round(step.count.output.share * 100) }
  output "abstained" { value = step.count.output.abstained }
  output "scored" { value = step.score.output.decision }
  output "best" { value = step.best.output }
}
