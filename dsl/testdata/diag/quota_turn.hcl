quota "db" { capacity = 1 }

workflow "w" {
  default = true
  sequence "g" {
    quota = quota.db
    step "a" { call = workflow.middle }
  }
}

workflow "middle" {
  step "b" { call = workflow.child }
}

workflow "child" {
  concurrency { group = "x" }
  step "c" { run = ["true"] }
}
