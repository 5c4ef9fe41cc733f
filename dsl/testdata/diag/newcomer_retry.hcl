workflow "w" {
  step "a" {
    run   = "true"
    until = "result.output == 'ready'"
    retry { attempts = 3 }
  }
  cleanup {
    step "b" { run = "true" }
  }
}
