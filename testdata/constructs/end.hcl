# A run that ends early, and well.
# races
workflow "early" {
  step "slow" { run = ["sleep", "60"] }
  step "found" { run = ["sleep", "1"] }

  step "stop" {
    depends_on = [step.found]
    end { message = "it is found" }
  }
}
