workflow "ci" {
  step "build" {
    run  = ["make"]
    when = "step.setup.status == "failed""
  }
}
