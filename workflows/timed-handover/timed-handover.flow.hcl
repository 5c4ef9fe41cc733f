# Each agent has a window of time. When the window is over, the next agent starts with the work so far, even if there is none.

agent "scout" {
  type    = "exec"
  command = ["./agents/scout"]
  timeout = "10m"
}

agent "builder" {
  type    = "exec"
  command = ["./agents/builder"]
  timeout = "30m"
}

workflow "handover" {
  input "task" {
    type    = string
    default = "Add a search."
  }

  step "explore" {
    agent      = agent.scout
    task       = input.task
    output     = object({ notes = string })
    on_timeout = "hand_in"
    degrade { output = { notes = "" } }
  }

  step "build" {
    agent = agent.builder
    task  = input.task
    with  = { notes = step.explore.output.notes }
  }

  output "built" { value = step.build.output }
}
