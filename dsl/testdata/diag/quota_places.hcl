quota "db" { capacity = 1 }

workflow "w" {
  default = true
  parallel "g" {
    max_concurrency = 1
    step "a" { call = workflow.child }
    sequence "b" {
      quota = quota.db
      step "x" { run = ["true"] }
    }
  }
  parallel "well" {
    quota           = quota.db
    max_concurrency = 1
    step "c" { call = workflow.child }
    sequence "d" {
      quota = quota.db
      step "y" { run = ["true"] }
    }
  }
}

workflow "child" {
  step "z" {
    run   = ["true"]
    quota = quota.db
  }
}
