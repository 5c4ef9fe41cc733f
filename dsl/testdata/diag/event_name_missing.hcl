workflow "w" {
  step "a" {
    emit { data = 1 }
  }
}
