workflow "ping" {
  step "a" { call = workflow.pong }
}
workflow "pong" {
  step "b" { call = workflow.ping }
}
