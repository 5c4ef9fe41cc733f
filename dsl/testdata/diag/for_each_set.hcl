workflow "w" {
  input "ports" { type = set(number) }
  step "a" {
    for_each = input.ports
    run      = ["true"]
  }
}
