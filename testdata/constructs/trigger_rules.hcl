# Each rule over one success, one failure and one skip.
workflow "rules" {
  step "good" { run = ["say", "yes"] }
  step "bad" { run = ["exit", "1"] }

  step "never" {
    run  = ["say", "no"]
    when = "1 > 2"
  }

  step "none-failed" {
    run        = ["say", "ran"]
    depends_on = [step.good, step.never]
  }

  step "none-failed-blocked" {
    run        = ["say", "ran"]
    depends_on = [step.good, step.bad]
  }

  step "all-success" {
    run          = ["say", "ran"]
    depends_on   = [step.good, step.never]
    trigger_rule = "all_success"
  }

  step "all-failed" {
    run          = ["say", "ran"]
    depends_on   = [step.bad]
    trigger_rule = "all_failed"
  }

  step "all-done" {
    run          = ["say", "ran"]
    depends_on   = [step.good, step.bad, step.never]
    trigger_rule = "all_done"
  }

  step "one-success" {
    run          = ["say", "ran"]
    depends_on   = [step.bad, step.good]
    trigger_rule = "one_success"
  }

  step "one-failed" {
    run          = ["say", "ran"]
    depends_on   = [step.bad, step.good]
    trigger_rule = "one_failed"
  }

  step "one-failed-not" {
    run          = ["say", "ran"]
    depends_on   = [step.good, step.never]
    trigger_rule = "one_failed"
  }

  step "always" {
    run          = ["say", "ran"]
    depends_on   = [step.bad]
    trigger_rule = "always"
  }
}
