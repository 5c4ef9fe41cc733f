# An author writes, a reviewer judges, and the author gets the words of the reviewer, until the work is accepted, in at most three rounds.
# If the work is never accepted, the rounds fail. The output verdict says so, and the run continues to its end.

agent "author" {
  type    = "exec"
  command = ["./agents/author"]
}

agent "reviewer" {
  type    = "exec"
  command = ["./agents/reviewer"]
  output  = object({ accepted = bool, words = string })
}

# A person hears of work that is never accepted. Write a channel of your own, such as type = "slack".
channel "editor" {
  type = "file"
  path = "escalated.jsonl"
}

escalation "stuck" {
  level "editor" { notify = [channel.editor] }
}

workflow "review" {
  input "task" {
    type    = string
    default = "Write the release notes."
  }

  feedback "draft" {
    producer       = agent.author
    task           = input.task
    reviewer       = agent.reviewer
    review_task    = "Judge this work. The task was: ${input.task}"
    accept         = "review.output.accepted"
    max_iterations = 3
    escalate       = escalation.stuck
    on_error       = "continue"
  }

  output "verdict" { value = step.draft.status == "succeeded" ? "accepted" : "not_accepted" }
  output "work" { value = step.draft.output }
  output "rounds" { value = step.draft.iterations }
}
