workflow "ci" {
  step "test" {
    run        = [make, test]
    depends_on = [build, "lint", steps.setup, step.build.output]
    when       = step.build.status == "failed"
  }
  step "lint" {
    run        = ["make", "lint"]
    depends_on = "build"
    when       = failure()
  }
  step "build" {
    run   = ["make", "build"]
    agent = "dev"
  }
}
