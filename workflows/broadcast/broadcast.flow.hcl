# All workers get each notice, the urgent notices first: a notice has a time and a priority, and stays in the store for an hour. Each
# worker reads the notices before each task, and its agent gets the notices with the task.
#
#   flowrun apply . announce --input text='Stop deploying.' --input priority=high

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
}

workflow "announce" {
  input "text" {
    type    = string
    default = "The tests are slow today."
  }

  input "priority" {
    type    = string
    enum    = ["high", "normal", "low"]
    default = "normal"
  }

  # A scan gives keys in order, so the rank is the first part of the key.
  step "publish" {
    kv {
      set       = "${input.priority == "high" ? 1 : input.priority == "normal" ? 2 : 3}.${run.started_at}.${run.id}"
      namespace = "notices"
      value     = { text = input.text, priority = input.priority, at = run.started_at }
      ttl       = "1h"
    }
  }

  # Runs that wait for a notice hear of it at once.
  step "wake" {
    emit {
      event = "notice"
      data  = { text = input.text, priority = input.priority }
    }
    depends_on = [step.publish]
  }
}

workflow "work" {
  input "tasks" {
    type    = list(string)
    default = ["build", "test"]
  }

  sequence "task" {
    repeat {
      until = "iteration >= len(input.tasks)"
      max   = 1000
    }

    step "heard" {
      kv {
        scan      = ""
        namespace = "notices"
      }
    }

    step "do" {
      agent = agent.worker
      task  = input.tasks[iteration - 1]
      with  = { notices = values(step.heard.output) }
    }
  }
}

# Two notices, and two workers that hear both.
workflow "team" {
  default = true

  step "slow" { call = workflow.announce }

  step "stop" {
    call       = workflow.announce
    with       = { text = "Stop deploying.", priority = "high" }
    depends_on = [step.slow]
  }

  step "work" {
    for_each   = ["worker1", "worker2"]
    call       = workflow.work
    depends_on = [step.stop]
  }
}
