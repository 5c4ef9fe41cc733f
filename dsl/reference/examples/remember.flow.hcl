memory {
  groups = ["build"]
}

agent "builder" {
  type    = "exec"
  command = ["./agent"]
}

workflow "notes" {
  step "build" {
    agent   = agent.builder
    task    = "Build the package."
    timeout = "1h"
  }

  step "note" {
    depends_on = [step.build]

    remember {
      type        = "failure"
      agent       = agent.builder
      observation = "The linker ran out of memory."
      context     = "a release build on the small runner"
      lesson      = "Give the runner a swap file."
      importance  = 0.8
      tags        = ["ci"]
    }
  }

  step "look" {
    depends_on = [step.note]

    recall {
      query  = "release build"
      type   = "failure"
      agent  = agent.builder
      tag    = "ci"
      groups = ["build"]
      k      = 3
      budget = 400
    }
  }
}
