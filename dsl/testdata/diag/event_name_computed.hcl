workflow "w" {
  step "a" {
    emit { event = "done-${run.id}" }
  }
}
