# A spent budget asks people whether more may start in it. What would start waits until somebody decides, or until something else ends it.
# A called run asks for itself when it has used what was left.
workflow "work" {
  default = true

  sequence "drafts" {
    timeout  = "3s"
    on_error = "continue"
    budget {
      attempts  = 2
      on_exceed = "ask"
    }

    step "first" { run = ["say", "first"] }
    step "second" { run = ["say", "second"] }
    step "third" { run = ["say", "third"] }
  }

  sequence "called" {
    timeout  = "2s"
    on_error = "continue"
    budget {
      attempts  = 1
      on_exceed = "ask"
    }

    step "parts" { call = workflow.parts }
  }

  step "report" {
    call = workflow.report
  }

  output "drafts" { value = [step.drafts.status, step.drafts.usage.attempts] }
  output "called" { value = [step.called.status, step.called.usage.attempts] }
  output "report" { value = step.report.output.parts }
}

workflow "report" {
  budget {
    attempts  = 1
    on_exceed = "ask"
  }

  step "parts" {
    for_each        = [1, 2]
    max_concurrency = 1
    run             = ["say", tostring(each.value)]
    deadline { after = "4s" }
    on_error = "continue"
  }

  output "parts" { value = step.parts.counts.succeeded }
}

workflow "parts" {
  step "one" { run = ["say", "one"] }

  step "two" {
    run        = ["say", "two"]
    depends_on = [step.one]
  }
}
