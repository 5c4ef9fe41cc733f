memory {
  store             = "../memory"
  promote           = "succeeded"
  consolidate_every = 20
  groups            = ["build"]

  recall {
    k      = 5
    budget = 800
  }

  short_term {
    tasks   = 10
    max_age = "48h"
  }

  working { refresh = "2h" }
}

agent "builder" {
  type    = "exec"
  command = ["./agent"]

  memory {
    groups  = ["build"]
    trusted = true
    k       = 3
    budget  = 400
  }
}

agent "judge" {
  type    = "exec"
  command = ["./agent", "--judge"]

  memory {
    recall = false
    learn  = false
  }
}

workflow "build" {
  step "build" {
    agent   = agent.builder
    task    = "Build the package."
    timeout = "1h"
  }

  step "judge" {
    agent   = agent.judge
    task    = "Judge the build: ${step.build.output}"
    timeout = "10m"
  }
}
