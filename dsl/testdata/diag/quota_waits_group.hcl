quota "db" { capacity = 2 }

workflow "w" {
  default = true
  sequence "before" {
    quota = quota.db
    step "y" { run = ["true"] }
  }
  parallel "circle" {
    for_each = ["a", "b"]
    quota    = quota.db
    step "x" { run = ["echo", step.y.status] }
  }
}
