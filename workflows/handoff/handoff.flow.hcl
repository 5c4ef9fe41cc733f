# One agent hands its work over to another, with all that the other must know. The hand-over is work in the store: a loop, or a
# person, takes it when there is time. The first run does not wait for it.
#
#   flowrun apply . feature
#   flowrun dispatch list
#   flowrun dispatch show ds-1

agent "sam" {
  type    = "exec"
  command = ["./agents/sam"]
  output = object({
    summary   = string
    next      = string
    files     = list(string)
    decisions = list(string)
    questions = list(string)
    blockers  = list(string)
    pr        = string
  })
}

channel "dev" {
  type   = "file"
  path   = "dev.jsonl"
  dedupe = "0s"
}

workflow "feature" {
  input "ticket" {
    type    = string
    default = "AGT-275"
  }

  input "task" {
    type    = string
    default = "Make an endpoint for the profiles of users."
  }

  step "endpoint" {
    agent = agent.sam
    task  = input.task
  }

  step "over" {
    handoff {
      to             = "leo"
      ticket         = input.ticket
      summary        = step.endpoint.output.summary
      next           = step.endpoint.output.next
      files_changed  = step.endpoint.output.files
      decisions      = step.endpoint.output.decisions
      open_questions = step.endpoint.output.questions
      acceptance     = ["It shows the name.", "A button edits the profile."]
      blockers       = step.endpoint.output.blockers
      artifacts      = { pr = step.endpoint.output.pr }
      priority       = 5
      notify         = [channel.dev]
    }
  }

  output "work" { value = step.over.output.id }
}
