# One agent hands its work over to another agent, with all that the other agent must know. The hand-over is work in the store: a loop or
# a person takes the work later. The first run does not wait for that.
#
#   flowrun apply .
#   flowrun dispatch list
#   flowrun dispatch show ds-1
#   flowrun loop run team . --until-idle       # leo continues

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

agent "leo" {
  type    = "exec"
  command = ["./agents/leo"]
}

channel "dev" {
  type   = "file"
  path   = "dev.jsonl"
  dedupe = "0s"
}

workflow "feature" {
  default = true

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

# Gives what was handed over to the agent that it is for. The request of that agent has the whole document as handoff.
loop "team" {
  agents = [agent.leo]
  source "dispatch" {}

  handle {
    when     = "item.handoff != null"
    workflow = workflow.go_on
    with     = { task = item.title }
  }
}

workflow "go_on" {
  input "task" { type = string }

  step "work" {
    agent = agent.leo
    task  = input.task
  }
}
