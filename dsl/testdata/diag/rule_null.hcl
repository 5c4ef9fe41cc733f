workflow "w" {
  step "a" { run = ["hostname"] }
  step "b" { run = ["uname"] }
  step "say" {
    run          = ["echo", step.a.output]
    depends_on   = [step.a, step.b]
    trigger_rule = "one_success"
  }
}
