# A failure that is tolerated stays visible, and what depends on it runs with null in its place.
workflow "tolerant" {
  step "flaky" {
    run      = ["exit", "3"]
    on_error = "continue"
  }

  step "after" {
    value      = { got = coalesce(step.flaky.output, "nothing"), status = step.flaky.status }
    depends_on = [step.flaky]
  }

  output "after" { value = step.after.output }
}
