quota "a" {
  cost_usd = 20
  tokens   = 1000
}

quota "b" {
  capacity = 2
  per      = "24h"
}

quota "c" {
  attempts = 0
  per      = "1d"
}

workflow "w" {
  step "s" {
    run   = ["s"]
    quota = [quota.a, quota.b, quota.c]
  }
}
