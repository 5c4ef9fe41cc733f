# Runs share state under keys. Each operation is atomic and changes the state once.
variable "team" {
  type    = string
  default = "team-a"
}

workflow "count" {
  step "build" {
    kv { incr = "builds" }
  }

  step "note" {
    for_each = ["api", "ui"]
    kv {
      set       = "version/${each.value}"
      value     = { build = step.build.output, part = each.value }
      ttl       = "7d"
      namespace = var.team
    }
  }

  step "claim" {
    kv {
      cas   = "release"
      value = "held"
    }
  }

  step "claim_again" {
    kv {
      cas   = "release"
      old   = "another run"
      value = "mine"
    }
    depends_on = [step.claim]
  }

  step "versions" {
    kv {
      scan      = "version/"
      limit     = 1
      namespace = var.team
    }
    depends_on = [step.note]
  }

  step "missing" {
    kv { get = "nothing" }
    output = number
  }

  step "add" {
    kv {
      incr = "release"
      by   = 2
    }
    depends_on = [step.claim_again]
    on_error   = "continue"
  }

  step "told" {
    value = [step.add.error.kind, step.add.error.reason, step.add.error.message]
    when  = "step.claim.output.swapped && !step.claim_again.output.swapped && step.missing.output == null"
  }

  finally {
    step "release" {
      kv { delete = "release" }
    }
  }

  output "build" { value = step.build.output }
  output "versions" { value = step.versions.output }
  output "told" { value = step.told.output }
}
