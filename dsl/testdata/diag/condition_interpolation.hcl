workflow "w" {
  input "n" { type = number }
  step "a" {
    run  = ["true"]
    when = "${input.n} > 3"
  }
}
