variable "token" {
  type      = string
  sensitive = true
}
workflow "child" {
  input "key" { type = string }
  step "s" { run = ["use", "--", input.key] }
}
workflow "w" {
  step "a" {
    call = workflow.child
    with = { key = var.token }
  }
}
