workflow "w" {
  step "a" { run = ["true"] }
  step "b" {
    run  = ["echo", step.a.output]
    when = "step.a.status in ['succeeded', 'skipped']"
  }
}
