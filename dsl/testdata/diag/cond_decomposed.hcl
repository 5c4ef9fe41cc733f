workflow "w" {
  step "a" {
    run  = "true"
    when = "'é é' == stp.x.output"
  }
  step "b" {
    run  = "true"
    when = "\"aéö\" == stp.x.output"
  }
}
