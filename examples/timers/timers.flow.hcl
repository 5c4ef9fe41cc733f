# Time that counts, one pattern a workflow. A time limit, a pause or a moment is an attribute; nothing is started that watches it, and it
# holds over a crash. agent.sh stands in for the agents, so that all of it runs at once.
#
#   flowrun apply examples/timers training
#   flowrun routines list --next 3

agent "caller" {
  type    = "exec"
  command = ["./agent.sh", "call"]
}

agent "trainer" {
  type    = "exec"
  command = ["./agent.sh", "train"]
}

agent "quick" {
  type    = "exec"
  command = ["./agent.sh", "answer"]
}

agent "slow" {
  type    = "exec"
  command = ["./agent.sh", "draft"]
}

channel "log" {
  type   = "file"
  path   = "log.jsonl"
  dedupe = "0s"
}

# What agents note while they work together is put away after an hour; who they are and what they learned stays.
memory {
  embedder { provider = "none" }
  working { refresh = "1h" }
}

# A service that is asked too often says when to come back. The call waits until then, and holds nothing meanwhile.
workflow "rate_limit" {
  default = true

  step "call" {
    agent = agent.caller
    task  = "Fetch the orders."
  }

  # Those who wait for the service hear that it answers again.
  step "resume" {
    emit {
      event = "service.back"
      data  = { service = "orders" }
    }
    depends_on = [step.call]
  }

  output "orders" { value = step.call.output }
}

# A job that trains for too long is ended with all of its processes, and its resources are given back. A message says how far its time is.
workflow "training" {
  input "limit" {
    type    = string
    default = "6h"
  }

  step "train" {
    agent = agent.trainer
    task  = "Train the model."

    deadline {
      after    = input.limit
      progress = [25, 50, 75]
      notify   = [channel.log]
    }
  }

  step "terminate" {
    run          = ["./agent.sh", "terminate", coalesce(step.train.error.reason, "failure")]
    depends_on   = [step.train]
    trigger_rule = "one_failed"
  }
}

# Agents work at once, each with its own limit. Who is over it hands in what there is, and the others are not disturbed.
workflow "tasks" {
  input "limit" {
    type    = string
    default = "20m"
  }

  parallel "team" {
    step "search" {
      agent   = agent.quick
      task    = "Search."
      timeout = "10m"
    }

    step "review" {
      agent   = agent.quick
      task    = "Review."
      timeout = "30m"
    }

    step "write" {
      agent      = agent.slow
      task       = "Write."
      timeout    = input.limit
      on_timeout = "hand_in"
      degrade { output = { text = "" } }
    }
  }

  output "results" { value = [for name, part in step.team.output : part.text] }
  output "forced" { value = step.write.partial }
}

# Each agent hands over to the next when its window is over, whatever it has. It knows who it has the work from and who gets it.
workflow "chain" {
  input "window" {
    type    = string
    default = "15m"
  }

  step "research" {
    agent      = agent.slow
    task       = "Find out."
    with       = { workflow = run.id, step = 0, from = null, to = "write" }
    timeout    = input.window
    on_timeout = "hand_in"
    degrade { output = { text = "" } }
  }

  step "write" {
    agent      = agent.slow
    task       = "Write it down."
    with       = { workflow = run.id, step = 1, from = "research", to = "check", work = step.research.output.text }
    timeout    = input.window
    on_timeout = "hand_in"
    degrade { output = { text = "" } }
  }

  step "check" {
    agent = agent.quick
    task  = "Check it."
    with  = { workflow = run.id, step = 2, from = "write", to = null, work = step.write.output.text }
  }

  step "complete" {
    emit {
      event = "workflow.complete"
      data  = { workflow = run.id, steps = 3, text = step.check.output.text }
    }
  }
}

# A service that fails is left alone for five minutes. Then one call probes it.
quota "service" {
  circuit_breaker {
    failures = 3
    reset    = "5m"
  }
}

workflow "reconnect" {
  step "call" {
    agent = agent.caller
    task  = "Fetch the orders."
    quota = quota.service
  }
}

# A routine of every day. The next moment is known (flowrun routines list), and each moment starts one run.
routine "daily" {
  every    = "24h"
  workflow = workflow.day
}

workflow "day" {
  step "work" {
    agent = agent.quick
    task  = "Do what is due on ${coalesce(run.cause.scheduled_at, run.started_at)}."
  }
}

# Agents compete. When the time is up each hands in what it has, and the best wins.
workflow "competition" {
  input "limit" {
    type    = string
    default = "30m"
  }

  compete "race" {
    agents  = [agent.quick, agent.slow]
    task    = "Solve it."
    score   = result.output.score
    timeout = input.limit
  }

  output "winner" { value = step.race.winner }
  output "text" { value = step.race.output.text }
}
