workflow "w" {
  step "a" { value = 1 }
  step "b" { value = coalesce(last.step.a.output, 0) + 1 }
}
