workflow "ci" {
  step "build" { run = ["make"] }
  step "alarm" {
    run  = ["alarm"]
    when = "failure() || always()"
  }
}
