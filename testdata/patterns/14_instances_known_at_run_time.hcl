# 14, multiple instances known at run time: how many is known when they are made, and not before the run.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "review" {
  step "reviewers" {
    agent = agent.worker
    with  = { takes = 1, names = ["ada", "grace"] }
  }

  step "review" {
    for_each = step.reviewers.output.names
    agent    = agent.worker
    with     = { takes = each.key + 1 }
  }

  step "decide" { value = length(step.review.output) }
  output "reviews" { value = step.decide.output }
}
