# Only one run does a task: the first run that sets the key has the claim, and the other runs learn which run has it.
# The claim ends with the work, or after two hours if its run does not continue.

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
  timeout = "1h"
}

workflow "claim" {
  input "task" {
    type    = string
    default = "Clean up the cache."
  }

  input "me" {
    type    = string
    default = "worker1"
  }

  step "claim" {
    kv {
      cas       = input.task
      namespace = "claims"
      value     = input.me
      ttl       = "2h"
    }
  }

  step "work" {
    agent = agent.worker
    task  = input.task
    when  = "step.claim.output.swapped"
  }

  finally {
    step "release" {
      kv {
        delete    = input.task
        namespace = "claims"
      }
      when = "step.claim.output.swapped == true"
    }
  }

  output "claimed" { value = step.claim.output.swapped }
  output "holder" { value = step.claim.output.value }
}

# Five workers want the same task at once.
workflow "rush" {
  default = true
  input "task" {
    type    = string
    default = "Clean up the cache."
  }

  step "try" {
    for_each = ["worker1", "worker2", "worker3", "worker4", "worker5"]
    call     = workflow.claim
    with     = { task = input.task, me = each.value }
  }

  output "winners" { value = length([for t in step.try.output : t if t.claimed]) }
  output "holders" { value = distinct([for t in step.try.output : t.holder]) }
}
