# 15, multiple instances not known beforehand: while some are being handled, more turn up. What follows waits for all of them. At most
# six can be handled; without such a bound, a block on starts a run for each.
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "ship" {
  parallel "goods" {
    # A container after the other comes off the ship; with the last one comes the word that there is no more.
    sequence "unload" {
      repeat {
        until = "iteration > 3"
        max   = 6
      }

      step "lift" {
        agent = agent.worker
        with  = { takes = 1, number = iteration, last = iteration > 3 }
      }

      step "down" {
        emit {
          event = "container"
          run   = run.id
          data  = { number = step.lift.output.with.number, last = step.lift.output.with.last }
        }
      }
    }

    # Each container is checked as soon as it is there. The handlers that are left over end with the last word.
    sequence "handler" {
      for_each = range(1, 7)
      value    = step.check.output

      step "container" {
        wait {
          event = "container"
          match = "event.last || event.number == each.value"
          data  = object({ number = number, last = bool })
        }
      }

      step "check" {
        when  = "!step.container.output.last"
        agent = agent.worker
        with  = { takes = 3, number = step.container.output.number }
      }
    }
  }

  step "leave" {
    value      = length([for h in step.handler.output : h if h != null])
    depends_on = [step.goods]
  }

  output "checked" { value = step.leave.output }
}
