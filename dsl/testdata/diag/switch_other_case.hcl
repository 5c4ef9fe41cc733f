workflow "w" {
  input "kind" { type = string }
  switch "how" {
    case {
      when = "input.kind == 'bug'"
      step "fix" { value = "fixed" }
    }
    default {
      step "build" { value = "built" }
    }
  }
  step "say" { run = ["echo", step.fix.output] }
}
