quota "db" { capacity = 1 }

workflow "w" {
  default = true
  step "before" {
    run   = ["true"]
    quota = quota.db
  }
  sequence "circle" {
    quota = quota.db
    step "x" { run = ["echo", step.before.output] }
  }
  sequence "well" {
    depends_on = [step.before]
    quota      = quota.db
    step "y" { run = ["echo", step.before.output] }
  }
}
