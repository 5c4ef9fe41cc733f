quota "db" { capacity = 1 }

workflow "w" {
  default = true
  step "first" { call = workflow.turns }
  sequence "round" {
    quota = quota.db
    step "x" {
      run        = ["true"]
      depends_on = [step.first]
    }
  }
  sequence "well" {
    depends_on = [step.first]
    quota      = quota.db
    step "y" {
      run        = ["true"]
      depends_on = [step.first]
    }
  }
}

workflow "turns" {
  concurrency { group = "x" }
  step "c" { run = ["true"] }
}
