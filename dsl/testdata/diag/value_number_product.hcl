workflow "w" {
  input "n" { type = number }
  step "a" {
    value = 1e300 * 2
  }
  step "b" {
    run  = ["true"]
    when = "input.n < 9007199254740993"
  }
  step "c" {
    run  = ["true"]
    when = "input.n < 1e400"
  }
}
