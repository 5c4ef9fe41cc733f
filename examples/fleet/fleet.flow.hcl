# Agents that coordinate over what they share, without a server: an orchestrator fills a queue and starts workers, each worker claims tasks, a
# monitor looks at all of it, a resource manager admits jobs, and a pipeline takes items through stages. Each is a workflow of its own;
# worker.sh stands in for the agents.

quota "cpu" { capacity = 8 }

quota "gpu" { capacity = 2 }

locals {
  stages = ["ingest", "process", "analyze", "output"]
}

agent "worker" {
  type    = "exec"
  command = ["./worker.sh"]
  timeout = "5m"
}

# The orchestrator queues the tasks, starts the workers, and ends with how far it got.
workflow "orchestrator" {
  default = true

  input "tasks" {
    type    = list(string)
    default = ["build", "lint", "test", "pack", "sign", "ship"]
  }

  input "workers" {
    type    = list(string)
    default = ["worker1", "worker2", "worker3"]
  }

  step "queue" {
    for_each = input.tasks
    kv {
      set       = "queue.${each.value}"
      namespace = "tasks"
      value     = "pending"
    }
  }

  step "work" {
    for_each   = input.workers
    call       = workflow.worker
    with       = { id = each.value, tasks = input.tasks }
    depends_on = [step.queue]
  }

  step "look" {
    call       = workflow.monitor
    with       = { total = length(input.tasks) }
    depends_on = [step.work]
  }

  output "progress_percent" { value = step.look.output.progress_percent }
}

# A worker registers, again with each task, and claims one task after the other. The claim is one write that succeeds for one worker alone.
workflow "worker" {
  input "id" {
    type    = string
    default = "worker1"
  }

  input "tasks" {
    type    = list(string)
    default = ["build"]
  }

  sequence "task" {
    repeat {
      until = "iteration >= len(input.tasks)"
      max   = 1000
    }

    # Who is not heard of for 90 seconds is gone.
    step "register" {
      kv {
        set       = input.id
        namespace = "agents"
        value     = { status = "active", capabilities = ["build", "test"] }
        ttl       = "90s"
      }
    }

    step "claim" {
      kv {
        cas       = "claimed.${input.tasks[iteration - 1]}"
        namespace = "tasks"
        value     = input.id
      }
    }

    step "do" {
      agent = agent.worker
      task  = input.tasks[iteration - 1]
      when  = "step.claim.output.swapped"
    }

    step "count" {
      kv {
        incr      = "completed"
        namespace = "main"
      }
      when = "step.do.output != null"
    }

    step "take_off" {
      kv {
        delete    = "queue.${input.tasks[iteration - 1]}"
        namespace = "tasks"
      }
      when = "step.count.output != null"
    }
  }

  finally {
    step "sign_off" {
      kv {
        delete    = input.id
        namespace = "agents"
      }
    }
  }
}

# The monitor reads what is shared: progress, active workers and the depth of the queue.
workflow "monitor" {
  input "total" {
    type    = number
    default = 6
  }

  step "completed" {
    kv {
      get       = "completed"
      namespace = "main"
    }
  }

  step "agents" {
    kv {
      scan      = ""
      namespace = "agents"
    }
  }

  step "queue" {
    kv {
      scan      = "queue."
      namespace = "tasks"
    }
  }

  output "progress_percent" { value = floor(100 * (step.completed.output == null ? 0 : step.completed.output) / input.total) }
  output "active_workers" { value = length(step.agents.output) }
  output "queue_depth" { value = length(step.queue.output) }
}

# The resource manager lets a job start when its processors and its card are free, and takes them back when it ends.
workflow "resource_manager" {
  input "jobs" {
    type    = list(object({ name = string, cpu = number, gpu = number }))
    default = [{ name = "train", cpu = 2, gpu = 1 }, { name = "index", cpu = 4, gpu = 0 }, { name = "draw", cpu = 2, gpu = 1 }]
  }

  step "job" {
    for_each = input.jobs
    agent    = agent.worker
    task     = each.value.name
    quota    = { cpu = each.value.cpu, gpu = each.value.gpu }
  }
}

# The pipeline takes each item through its stages, and writes down where the item is.
workflow "pipeline" {
  input "items" {
    type    = list(string)
    default = ["a", "b", "c"]
  }

  step "item" {
    for_each = input.items
    call     = workflow.item
    with     = { id = each.value }
  }
}

# One item. The next stage starts when the one before is done.
workflow "item" {
  input "id" {
    type    = string
    default = "a"
  }

  sequence "stage" {
    repeat {
      until = "iteration >= len(local.stages)"
      max   = 10
    }

    step "note" {
      kv {
        set       = "item_${input.id}"
        namespace = "logs"
        value     = { stage = local.stages[iteration - 1], started = now, run = run.id, worker = "worker" }
      }
    }

    step "run" {
      agent = agent.worker
      task  = local.stages[iteration - 1]
      with  = { item = input.id, noted = step.note.output }
    }
  }
}
