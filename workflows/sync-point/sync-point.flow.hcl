# Four teams prepare a release, each team in its own run. All of them meet at one sync point. A blocked team says why, and
# the other teams wait until it is ready. When all teams are ready, one run starts the next phase.
#
#   flowrun apply . prepare --input team=api --input version=1.4
#   flowrun sync list
#   flowrun sync check-in release-1.4 --as ui       # a person says that the team is ready now

agent "builder" {
  type    = "exec"
  command = ["./agents/builder"]
  output  = object({ ready = bool, reason = string })
}

agent "lead" {
  type    = "exec"
  command = ["./agents/lead"]
}

workflow "prepare" {
  input "team" {
    type = string
    enum = ["api", "ui", "docs", "data"]
  }

  input "version" { type = string }

  step "build" {
    agent = agent.builder
    task  = "Prepare the part of team ${input.team} for version ${input.version}."
  }

  step "meet" {
    sync {
      point   = "release-${input.version}"
      as      = input.team
      needs   = ["api", "ui", "docs", "data"]
      ready   = step.build.output.ready
      reason  = step.build.output.reason
      timeout = "3d"
    }
  }

  step "integrate" {
    agent    = agent.lead
    task     = "All of ${join(", ", step.meet.output.checked_in)} are ready. Test version ${input.version} as a whole."
    when     = "step.meet.output.last"
    priority = "high"
  }

  output "integrates" { value = step.meet.output.last }
}

# The four teams at once.
workflow "release" {
  default = true

  input "version" {
    type    = string
    default = "1.4"
  }

  step "teams" {
    for_each = ["api", "ui", "docs", "data"]
    call     = workflow.prepare
    with     = { team = each.value, version = input.version }
  }

  output "integrated" { value = length([for t in step.teams.output : t if t.integrates]) }
}
