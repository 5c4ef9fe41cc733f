workflow "w" {
  step "s" {
    call = true ? workflow.a : workflow.b
  }
}

workflow "a" {
  step "x" { value = 1 }
}

workflow "b" {
  step "x" { value = 1 }
}
