# A producer and a reviewer in rounds: the first product is refused by a gate, and the third round is accepted. Another is never
# accepted, and one is made for each of a list. The agent here answers with what it was asked.

agent "author" {
  type    = "exec"
  command = ["agent"]
}

agent "critic" {
  type    = "exec"
  command = ["agent"]
}

gate "heard" {
  check   = "result.output.feedback != null && result.output.feedback != ''"
  message = "it heard nothing"
}

workflow "w" {
  feedback "draft" {
    producer       = agent.author
    reviewer       = agent.critic
    accept         = "review.output.with.iteration > 2 && product.output.with.topic == 'rain'"
    max_iterations = 5
    task           = "Write."
    review_task    = "Review."
    with           = { topic = "rain" }
    gates          = [gate.heard]
  }

  feedback "never" {
    producer       = agent.author
    reviewer       = agent.critic
    accept         = "iteration > 2"
    max_iterations = 2
    task           = "Write on."
    depends_on     = [step.draft]
    on_error       = "continue"
  }

  sequence "each" {
    depends_on = [step.never]
    step "topics" { value = ["sun", "wind"] }

    feedback "topic" {
      for_each = previous.output
      producer = agent.author
      reviewer = agent.critic
      accept   = "review.output.with.with.topic == each.value"
      with     = { topic = each.value, all = previous.output }
      value    = { round = review.output.with.iteration, topic = product.output.with.topic, all = product.output.with.all }
    }
  }

  output "heard" { value = length(step.draft.output.feedback) > 0 }
  output "rounds" { value = step.draft.iterations }
  output "never" { value = step.never.error.reason }
  output "each" { value = step.topic.output }
}
