workflow "w" {
  step "lint" {
    run        = ["true"]
    depends_on = [step.test]
  }
  step "build" {
    run  = ["true"]
    when = "step.lint.exit_code == 0"
  }
  step "test" {
    run        = ["true"]
    depends_on = [step.build]
  }
  step "aside" {
    run        = ["true"]
    depends_on = [step.test]
  }
}
