workflow "w" {
  parallel "race" {
    join = "first_success"
    step "a" { run = ["hostname"] }
    step "b" { run = ["uname"] }
  }
  step "say" { run = ["echo", step.race.output.a] }
}
