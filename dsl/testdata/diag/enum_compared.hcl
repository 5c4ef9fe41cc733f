workflow "w" {
  input "kind" {
    type = string
    enum = ["bug", "feature"]
  }
  step "a" {
    run  = ["true"]
    when = "input.kind == 'bugs'"
  }
}
