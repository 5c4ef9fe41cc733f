workflow "w" {
  parallel "race" {
    step "one" { run = ["true"] }
    step "two" { run = ["true"] }
  }
  step "best" {
    run = ["echo", step.race.winner]
  }
}
