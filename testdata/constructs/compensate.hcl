# A run that fails undoes what it did, last things first.
workflow "saga" {
  step "flight" {
    run = ["say", "booked"]
    compensate { run = ["say", "cancel", "flight"] }
  }

  step "hotel" {
    run        = ["say", "booked"]
    depends_on = [step.flight]
    compensate { run = ["exit", "1"] }
  }

  step "car" {
    run        = ["exit", "1"]
    depends_on = [step.hotel]
  }

  finally {
    step "tell" { run = ["say", "sorry"] }
  }
}
