# 10, arbitrary cycles: activities follow each other in circles with two ways in and two ways out. A draft goes from writing to
# checking and back, from checking to approving and back, and ends at approving or at checking. Such a circle is a repeat of a choice: each
# round does one activity and says which one is next, and max bounds the rounds.

agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "w" {
  input "start" {
    type    = string
    default = "write"
  }

  sequence "circle" {
    repeat {
      until = "step.next.output == 'end'"
      max   = 20
    }

    step "place" { value = try(last.step.next.output, input.start) }

    switch "do" {
      case {
        when = "step.place.output == 'write'"
        step "write" {
          agent = agent.worker
          with  = { takes = 1 }
        }
      }

      case {
        when = "step.place.output == 'check'"
        step "check" {
          agent = agent.worker
          with  = { takes = 2 }
        }
      }

      default {
        step "approve" {
          agent = agent.worker
          with  = { takes = 1 }
        }
      }
    }

    step "next" {
      value = {
        write   = "check"
        check   = iteration < 4 ? "write" : input.start == "check" ? "end" : "approve"
        approve = iteration < 6 ? "check" : "end"
      }[step.place.output]
      depends_on = [step.do]
    }
  }

  output "rounds" { value = step.circle.iterations }
}
