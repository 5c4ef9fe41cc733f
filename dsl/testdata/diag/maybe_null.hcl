workflow "w" {
  step "b" {
    value = 3
    when  = "true"
  }
  step "a" { value = step.b.output + 1 }
}
