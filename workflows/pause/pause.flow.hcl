# One run pauses a worker for some minutes, and the runs of that worker wait until the pause is over. The pause ends by itself.
#
#   flowrun apply . --input time=5s

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
}

workflow "pause" {
  input "worker" { type = string }

  input "time" {
    type    = string
    default = "5m"
  }

  step "pause" {
    kv {
      set       = input.worker
      namespace = "pauses"
      value     = "too many requests"
      ttl       = input.time
    }
  }
}

workflow "work" {
  input "worker" { type = string }
  input "task" { type = string }

  # A key that is not there reads as null: the worker was not paused, or the pause is over.
  step "paused" {
    kv {
      get       = input.worker
      namespace = "pauses"
    }

    repeat {
      until = "result.output == null"
      max   = 1000
      delay = "10s"
    }
  }

  step "work" {
    agent      = agent.worker
    task       = input.task
    depends_on = [step.paused]
  }

  output "result" { value = step.work.output }
}

# worker1 is paused and then asked; worker2 is asked at the same time.
workflow "team" {
  default = true

  input "time" {
    type    = string
    default = "5m"
  }

  step "pause" {
    call = workflow.pause
    with = { worker = "worker1", time = input.time }
  }

  step "work" {
    for_each   = ["worker1", "worker2"]
    call       = workflow.work
    with       = { worker = each.value, task = "task of ${each.value}" }
    depends_on = [step.pause]
  }
}
