quota "api" {
  rate_limit {
    requests = 10
    per      = "1m"
  }
}

workflow "w" {
  parallel "g" {
    quota = quota.api
    step "a" { run = ["true"] }
  }
}
