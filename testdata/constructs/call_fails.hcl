# A child that fails is a failed step, which says why.
workflow "parent" {
  default = true
  step "child" {
    call     = workflow.child
    on_error = "continue"
  }

  output "status" { value = step.child.status }
}

workflow "child" {
  step "work" { run = ["exit", "1"] }
}
