workflow "again" {
  step "a" { call = workflow.again }
}
