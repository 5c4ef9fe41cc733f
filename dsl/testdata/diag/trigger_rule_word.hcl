workflow "w" {
  step "a" { run = ["true"] }
  step "b" {
    run          = ["true"]
    depends_on   = [step.a]
    trigger_rule = "all_sucess"
  }
}
