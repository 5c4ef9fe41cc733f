workflow "w" {
  step "try" {
    description = "The quick way, which may fail."
    run         = ["./quick"]
    on_error    = "continue"
  }

  step "report" {
    depends_on   = [step.try]
    trigger_rule = "all_done"
    run          = ["./report"]
  }
}
