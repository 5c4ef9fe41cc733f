quota "db" { capacity = 1 }

workflow "w" {
  default = true
  budget { attempts = 9 }
  step "a" { call = workflow.child }
  sequence "b" {
    quota = quota.db
    step "x" { run = ["true"] }
  }
}

workflow "well" {
  quota = quota.db
  budget { attempts = 9 }
  step "c" { call = workflow.child }
  sequence "d" {
    quota = quota.db
    step "y" { run = ["true"] }
  }
}

workflow "each" {
  step "e" {
    call = workflow.child
    budget { attempts = 5 }
  }
  sequence "f" {
    quota = quota.db
    budget { attempts = 4 }
    step "y" { run = ["true"] }
  }
}

workflow "child" {
  step "z" {
    run   = ["true"]
    quota = quota.db
  }
}
