workflow "w" {
  step "s" { value = 1 }
}
