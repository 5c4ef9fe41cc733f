workflow "w" {
  step "a" { run = ["true"] }
  step "repair" {
    run        = ["repair"]
    depends_on = [step.a]
    when       = "step.a.status == 'failed'"
  }
}
