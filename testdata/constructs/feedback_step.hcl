# What an agent hears before a gate has said anything: here what the review of the round before found.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "improve" {
  sequence "rounds" {
    value = step.write.output.feedback
    repeat { max = 2 }

    step "write" {
      agent    = agent.worker
      feedback = last.step.review.output
    }

    step "review" { value = { ok = iteration > 1, say = "round ${iteration}" } }
  }

  output "heard" { value = step.rounds.output }
}
