workflow "w" {
  step "s" { value = file("../../../etc/passwd") }
}
