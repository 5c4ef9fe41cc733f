# Whatever happened, finally runs, and reads how it went.
workflow "cleanup" {
  step "work" { run = ["exit", "1"] }

  step "more" {
    run        = ["say", "more"]
    depends_on = [step.work]
  }

  finally {
    step "note" { value = "${run.status}: ${join(", ", run.failed)}" }
    step "remove" { run = ["say", "removed"] }
  }

  output "note" { value = step.note.output }
}
