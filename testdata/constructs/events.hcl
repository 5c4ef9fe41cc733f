# Events: each one is published once, and every wait for its name gets it. A wait takes an event once over its iterations.
workflow "orders" {
  parallel "work" {
    sequence "ship" {
      repeat { max = 2 }

      step "paid" {
        wait {
          event   = "order.paid"
          match   = "event.amount > 10"
          data    = object({ order = string, amount = number })
          timeout = "1h"
        }
      }

      step "parcel" { value = upper(step.paid.output.order) }
    }

    step "book" {
      for_each = ["a", "b"]
      wait {
        event   = "order.paid"
        match   = "event.order == each.value"
        timeout = "1h"
      }
    }

    step "never" {
      wait {
        event   = "order.lost"
        timeout = "500ms"
      }
      on_error = "continue"
    }

    sequence "pay" {
      step "small" {
        emit {
          event = "order.paid"
          data  = { order = "small", amount = 1 }
        }
      }

      step "wrong" {
        emit {
          event = "order.paid"
          data  = { order = "wrong", amount = "much" }
        }
      }

      step "first" {
        emit {
          event = "order.paid"
          key   = "a"
          data  = { order = "a", amount = 11 }
        }
      }

      step "again" {
        emit {
          event = "order.paid"
          key   = "a"
          data  = { order = "a", amount = 11 }
        }
      }

      step "second" {
        emit {
          event = "order.paid"
          run   = run.id
          data  = { order = "b", amount = 12 }
        }
      }

      step "nobody" {
        emit { event = "order.booked" }
      }
    }
  }

  output "shipped" { value = step.ship.output.parcel }
  output "booked" { value = [for order in step.book.output : order.amount] }
  output "duplicate" { value = step.again.output.duplicate && step.again.output.id == step.first.output.id }
  output "never" { value = [step.never.error.kind, step.never.error.reason] }
}
