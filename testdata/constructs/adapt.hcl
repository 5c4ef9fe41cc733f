# Rules of groups and of the run: a number that grows with each cooldown, a rule that waits, one that goes before another, the deadline
# that lets steps start together, and a workflow that is started and fails.
workflow "heal" {
  input "rate" { type = number }

  step "fix" {
    run = ["exit", "3"]
  }
}

workflow "adapts" {
  default         = true
  max_concurrency = 6

  adapt {
    when     = "metrics.error_rate >= 0.1"
    workflow = workflow.heal
    with     = { rate = coalesce(metrics.error_rate, 0) }
    cooldown = "10m"
  }

  parallel "grows" {
    max_concurrency = 1

    adapt {
      when            = "metrics.queued > 2"
      max_concurrency = metrics.limit + 2
      cooldown        = "1m"
    }

    step "work" {
      for_each = range(16)
      run      = ["say", "${each.value}"]
      on_error = "continue"
    }
  }

  parallel "late" {
    depends_on      = [step.grows]
    max_concurrency = 1
    deadline {
      after    = "30m"
      progress = [20]
    }

    adapt {
      when            = "metrics.remaining <= 1440"
      max_concurrency = 3
    }

    step "a" { run = ["say", "a"] }
    step "b" { run = ["say", "b"] }
    step "c" { run = ["say", "c"] }
  }
}
