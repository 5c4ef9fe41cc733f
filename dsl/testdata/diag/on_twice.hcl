on "order.placed" {
  workflow = workflow.w
  when     = "event.a == 1"
}

on "order.placed" {
  workflow = workflow.w
  when     = "event.a == 2"
}

workflow "w" {
  step "a" { run = ["true"] }
}
