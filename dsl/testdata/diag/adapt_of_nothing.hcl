workflow "w" {
  sequence "g" {
    adapt {
      when            = "metrics.cpu > 80"
      max_concurrency = 1
    }
    step "a" { value = 1 }
  }
  step "b" { run = ["true"] }
}
