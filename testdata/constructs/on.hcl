# An event starts one run of each workflow that a block on names for it. What does not fit is a dead letter.
workflow "order" {
  default = true

  step "placed" {
    emit {
      event = "order.placed"
      data  = { id = "a", total = 12 }
      key   = "a"
    }
  }

  step "again" {
    emit {
      event = "order.placed"
      data  = { id = "a", total = 12 }
      key   = "a"
    }
    depends_on = [step.placed]
  }

  step "small" {
    emit {
      event = "order.placed"
      data  = { id = "b", total = 3 }
    }
    depends_on = [step.again]
  }

  step "wrong" {
    emit {
      event = "order.placed"
      data  = { id = "c", total = "much" }
    }
    depends_on = [step.small]
  }

  step "alone" {
    emit {
      event = "order.placed"
      run   = run.id
      data  = { id = "d", total = 100 }
    }
    depends_on = [step.wrong]
  }

  # An event for one run alone is not for subscriptions.
  step "own" {
    wait {
      event   = "order.placed"
      match   = "event.id == 'd'"
      timeout = "1h"
    }
  }

  output "cause" { value = run.cause.kind }
}

on "order.placed" {
  workflow = workflow.fulfil
  when     = "event.total > var.least"
  data     = object({ id = string, total = number })
  with     = { order = upper(event.id) }
}

on "order.*" { workflow = workflow.count }

variable "least" {
  type    = number
  default = 10
}

workflow "fulfil" {
  input "order" { type = string }

  input "pieces" {
    type    = number
    default = 1
  }

  step "ship" {
    emit {
      event = "order.shipped"
      data  = { id = input.order, pieces = input.pieces }
    }
  }

  output "cause" { value = [run.cause.kind, run.cause.name, run.cause.source, run.cause.depth] }
}

workflow "count" {
  step "one" {
    kv {
      incr = "events"
    }
  }

  output "cause" { value = [run.cause.name, run.cause.depth] }
}
