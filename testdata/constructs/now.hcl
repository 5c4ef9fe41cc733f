# now is the time of the event for which an expression is evaluated: a run that is resumed reads the same.
workflow "now" {
  step "before" { value = now }

  step "pause" {
    depends_on = [step.before]
    wait { duration = "20ms" }
  }

  step "after" {
    depends_on = [step.pause]
    when       = "now > step.before.output"
    value      = now
  }

  output "later" { value = step.before.output < try(step.after.output, "") }
}
