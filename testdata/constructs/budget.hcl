# What a group, a step and a called run may use: each instance that would start in a spent budget fails by itself, a retry and a
# fallback ask first, and a called run has what was left when it started.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

agent "other" {
  type    = "exec"
  command = ["agent"]
}

workflow "spend" {
  default = true
  budget {
    attempts  = 8
    on_exceed = "warn"
  }

  sequence "parts" {
    for_each        = [1, 2, 3]
    max_concurrency = 1
    on_error        = "continue"
    budget { attempts = 2 }
    step "part" { run = ["say", "${each.value}"] }
  }

  step "stubborn" {
    agent    = agent.worker
    with     = { fails = 9 }
    fallback = [agent.other]
    budget { attempts = 2 }
    degrade { output = "nothing" }

    retry {
      max_attempts = 2
      base_delay   = "100ms"
      jitter       = "none"
    }
  }

  step "paid" {
    for_each        = [1, 2, 3, 4, 5]
    max_concurrency = 1
    agent           = agent.worker
    with            = { costs = 0.5 }
    on_error        = "continue"
    budget { cost_usd = 1.4 }
  }

  step "inner" {
    depends_on = [step.parts]
    call       = workflow.inner
    on_error   = "continue"
    budget { attempts = 2 }
  }

  output "parts" { value = step.parts.counts }
  output "stubborn" { value = step.stubborn.output }
  output "paid" { value = step.paid.usage }
  output "inner" { value = step.inner.usage.attempts }
}

workflow "inner" {
  step "all" {
    for_each        = [1, 2, 3]
    max_concurrency = 1
    run             = ["say", "${each.value}"]
  }
}
