variable "region" {
  type    = string
  default = "eu"
}

agent "ann" { type = "human" }

agent "medic" {
  type    = "exec"
  command = ["./medic"]
}

workflow "nightly" {
  step "copy" { run = ["./copy"] }
}

workflow "steps" {
  input "pages" {
    type    = list(string)
    default = ["a", "b"]
  }

  max_concurrency = 4

  adapt {
    when            = "metrics.cpu > 80"
    max_concurrency = 2
  }

  step "page" {
    for_each = input.pages
    run      = ["./page", each.value, var.region]
    timeout  = "10m"
  }

  step "ask" {
    depends_on = [step.page]

    approve {
      prompt = "Publish?"

      input "day" {
        type    = string
        default = "today"
      }
    }
  }

  step "fix" {
    agent   = agent.medic
    task    = "Write what changed."
    timeout = "1h"
  }

  step "choose" {
    agent   = agent.ann
    task    = "Which colour?"
    timeout = "24h"
  }

  step "meet" {
    sync {
      point = "release"
      needs = ["site", "app"]
      as    = "site"
    }
  }

  step "wait" {
    wait {
      event   = "build.done"
      timeout = "24h"
    }
  }

  step "number" {
    kv { incr = "release" }
  }
}
