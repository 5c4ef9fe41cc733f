# What all runs share: units that attempts take and groups hold, and how often something starts.
quota "staging" { capacity = 1 }

quota "gpu" { capacity = 2 }

quota "api" {
  rate_limit {
    requests = 2
    per      = "2s"
  }
}

workflow "share" {
  sequence "first" {
    quota = quota.staging
    step "deploy" { run = ["true"] }

    step "again" {
      run   = ["true"]
      quota = quota.staging # the group holds it
    }
  }

  sequence "second" {
    quota = quota.staging
    step "publish" { run = ["true"] }
  }

  step "train" {
    for_each = [1, 2, 3]
    run      = ["true"]
    quota    = { gpu = each.value < 3 ? 1 : 2 }
  }

  step "ask" {
    for_each = [1, 2, 3, 4]
    run      = ["true"]
    quota    = quota.api
  }

  step "too_much" {
    run      = ["true"]
    quota    = { gpu = step.train.counts.total }
    on_error = "continue"
  }

  output "why" { value = step.too_much.error.reason }
}
