quota "api" {
  rate_limit {
    requests = 10
    per      = "1m"
  }
}

workflow "w" {
  step "a" {
    run   = ["true"]
    quota = { api = 1 }
  }
}
