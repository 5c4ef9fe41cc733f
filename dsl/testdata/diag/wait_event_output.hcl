workflow "w" {
  step "a" {
    wait {
      event = "done"
      data  = object({ size = number })
    }
  }
  step "b" { value = step.a.output.sise }
  step "c" { value = event.size }
}
