# An author writes, a reviewer judges, and the author hears the words of the reviewer, until the work is accepted; three rounds at most.
# Work that is never accepted fails the rounds; the output verdict says so, and the run goes on to its end.

agent "author" {
  type    = "exec"
  command = ["./agents/author"]
}

agent "reviewer" {
  type    = "exec"
  command = ["./agents/reviewer"]
}

workflow "review" {
  input "task" {
    type    = string
    default = "Write the release notes."
  }

  sequence "rounds" {
    value    = step.write.output
    on_error = "continue"
    repeat {
      until = "step.review.output.accepted"
      max   = 3
    }

    step "write" {
      agent    = agent.author
      task     = input.task
      feedback = last.step.review.output.words
    }

    step "review" {
      agent  = agent.reviewer
      task   = "Judge this work. The task was: ${input.task}"
      with   = { work = step.write.output }
      output = object({ accepted = bool, words = string })
    }
  }

  output "verdict" { value = step.rounds.status == "succeeded" ? "accepted" : "not_accepted" }
  output "work" { value = step.rounds.output }
  output "rounds" { value = step.rounds.iterations }
}
