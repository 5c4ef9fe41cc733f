# A run adapts to what happens: a long queue, a busy machine, failures and a deadline change how much runs at once, or start a workflow.
# If more than 5 percent of the attempts fail, an agent looks for the cause and repairs it, at most once an hour. The agents write the reports
# one after the other, and near the deadline they write the remaining reports together. flowrun runs show prints each change, with the
# reason.

agent "medic" {
  type    = "exec"
  command = ["./agents/medic"]
}

workflow "mend" {
  input "rate" {
    type        = number
    description = "The share of attempts that failed."
  }

  step "find" {
    agent = agent.medic
    task  = "${input.rate * 100}% of the attempts fail. Find out why, and mend it."
  }
}

workflow "pages" {
  default         = true
  max_concurrency = 4

  input "pages" {
    type    = list(string)
    default = [for i in range(1, 61) : "page ${i}"]
  }

  input "reports" {
    type    = list(string)
    default = ["speed", "links", "words"]
  }

  # Later rules win: a busy machine counts more than a long queue.
  adapt {
    when            = "metrics.queued > 10 * metrics.limit"
    until           = "metrics.queued < 2 * metrics.limit"
    max_concurrency = min(metrics.limit + 2, 8)
    cooldown        = "1m"
  }

  adapt {
    when            = "metrics.cpu > 80"
    until           = "metrics.cpu < 80"
    max_concurrency = 2
  }

  adapt {
    when     = "metrics.error_rate > 0.05"
    workflow = workflow.mend
    with     = { rate = coalesce(metrics.error_rate, 0) }
    cooldown = "1h"
  }

  step "page" {
    for_each = input.pages
    run      = ["./agents/fetch", each.value]
    on_error = "continue"
  }

  parallel "write" {
    depends_on      = [step.page]
    max_concurrency = 1
    deadline {
      after    = "30m"
      progress = [70]
    }

    adapt {
      when            = "metrics.remaining <= 540"
      max_concurrency = 8
    }

    step "report" {
      for_each = input.reports
      run      = ["./agents/report", each.value]
    }
  }
}
