# A moment that has passed does not wait.
workflow "appointment" {
  step "past" {
    wait { at = "2020-01-01T00:00:00Z" }
  }

  step "after" {
    value      = 1
    depends_on = [step.past]
  }
}
