workflow "w" {
  parallel "p" {
    budget { attempts = 3 }
    step "a" { value = 1 }
    step "b" {
      wait { duration = "1s" }
    }
  }
}
