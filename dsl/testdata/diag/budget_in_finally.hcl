workflow "w" {
  step "a" { run = ["true"] }
  finally {
    budget { attempts = 3 }
    step "b" { run = ["true"] }
  }
}
