workflow "w" {
  step "a" {
    run = ["true"]
    budget { attempts = 3 }
    budget { attempts = 4 }
  }
}
