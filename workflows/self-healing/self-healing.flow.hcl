# A failed step is healed, or goes to another agent or a person: the rules of an escalation decide what happens, and when.

agent "builder" {
  type    = "exec"
  command = ["./agents/builder"]
}

agent "senior" {
  type    = "exec"
  command = ["./agents/senior"]
}

agent "doctor" {
  type    = "exec"
  command = ["./agents/doctor"]
}

channel "people" {
  type = "file"
  path = "alerts.jsonl"
}

channel "on_call" {
  type = "file"
  path = "pages.jsonl"
}

pool "builders" { members = [agent.builder, agent.senior] }

escalation "standard" {
  # Production is down: the person on call gets a message at once, and the nodes behind it continue.
  rule {
    when  = "error.message contains 'production' && error.message contains 'down'"
    level = "emergency"
  }

  # No agent can give permissions: a person is asked at once, because more attempts would not help.
  rule {
    when  = "error.status in [401, 403] || error.kind == 'fatal'"
    level = "human_alert"
  }

  # Three attempts have failed: another agent takes over, with the history of the failures.
  rule {
    when  = "attempt >= 3"
    level = "peer_assist"
  }

  # A failure that can be repaired is repaired first.
  rule {
    when  = "error.kind == 'recoverable' || error.kind == 'blocking'"
    level = "self_heal"
  }

  level "self_heal" {
    workflow = workflow.diagnose
    with     = { problem = error.message, attempt = attempt }
  }

  level "peer_assist" { reassign = pool.builders }

  level "emergency" { notify = [channel.on_call] }

  # The build waits, and the rest continues. flowrun inbox shows the question and the command that answers it.
  level "human_alert" {
    notify    = [channel.people]
    await     = "decision"
    after     = "8h"
    after_ack = "2d"
  }
}

workflow "build" {
  default  = true
  escalate = escalation.standard

  input "branch" {
    type    = string
    default = "main"
  }

  step "build" {
    agent  = agent.builder
    task   = "Build the branch."
    with   = { branch = input.branch, hint = try(healed.hint, null) }
    output = object({ artifact = string })

    # What a program says is sorted before anything else looks at it.
    classify {
      when = "error.message contains 'connection reset'"
      kind = "transient"
    }

    retry {
      max_attempts = 3
      base_delay   = "5s"
      jitter       = "none"
    }
  }

  output "artifact" { value = step.build.output.artifact }
  output "built_by" { value = step.build.agent }
  output "escalated" { value = step.build.escalated }
}

workflow "diagnose" {
  input "problem" { type = string }
  input "attempt" { type = number }

  step "look" {
    agent  = agent.doctor
    task   = "Find out what is wrong, mend it, and say what the builder has to know."
    with   = { problem = input.problem, attempt = input.attempt }
    output = object({ hint = string })
  }

  output "hint" { value = step.look.output.hint }
}
