variable "token" {
  type      = string
  sensitive = true
}

variable "least" {
  type    = number
  default = 80
}

agent "coder" {
  type    = "exec"
  command = ["coder"]
  output  = object({ verdict = string, score = number })
}

agent "site" {
  type = "http"
  url  = "https://agent.example/ask"
}

gate "tests" { run = ["make", "test"] }

gate "good" { check = "result.output.score >= var.least" }

workflow "feature" {
  default = true

  input "ticket" { type = string }
  input "size" {
    type    = number
    default = 1
  }

  step "plan" { run = ["plan", "--", input.ticket] }

  parallel "build" {
    step "api" {
      agent = agent.coder
      task  = "Build ${step.plan.output}"
      gates = [gate.tests, gate.good]
    }
    step "page" {
      http { url = "https://example.com" }
    }
  }

  step "each" {
    for_each = ["a", "b"]
    run      = ["check", each.value]
    parse    = "json"
    output   = object({ ok = bool })
  }

  sequence "round" {
    for_each = ["x", "y"]
    step "draft" { run = ["draft"] }
  }

  step "sum" {
    value = step.build.output.api.score
    gate "own" { run = ["judge"] }
  }

  step "deep" { call = workflow.child }
  step "again" { call = workflow.child }

  step "ship" {
    run = ["ship"]
    gate "own" { run = ["judge"] }
    gate "fast" {
      benchmark {
        run    = ["bench"]
        metric = "ops"
      }
    }
    compensate { run = ["unship"] }
  }

  output "score" { value = step.sum.output }
}

workflow "child" {
  step "inner" { run = ["inner"] }
}

loop "work" {
  agents = [agent.coder]
  source "dispatch" {}
  source "backlog" {
    from = "file"
    path = "TODO.md"
  }
  handle {
    when     = "'ask' in item.labels"
    workflow = workflow.asked
  }
  handle {
    workflow = workflow.feature
    with     = { ticket = item.id }
  }
}

workflow "asked" {
  step "allow" {
    approve { prompt = "May it?" }
  }
}
