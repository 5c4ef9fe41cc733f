quota "money" {
  cost_usd = 10
  per      = "24h"
}

workflow "w" {
  step "a" { run = ["true"] }
}
