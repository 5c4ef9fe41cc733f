workflow "child" {
  input "ticket" { type = string }
  input "depth" {
    type    = number
    default = 1
  }
  step "s" { value = input.ticket }
  output "answer" { value = step.s.output }
}
workflow "w" {
  step "a" {
    call = workflow.child
    with = { ticket = "T-1", detph = 2 }
  }
}
