# The run checks the dependencies of a task before the task begins. Without the database no run continues: all runs wait, and one probe in
# five minutes checks the database, however many runs wait. Without the price service, the task continues with the last prices, if they are
# younger than a day. A message says so, and the agent gets the age of the prices.

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
}

channel "operators" {
  type = "file"
  path = "warnings.jsonl"
}

# The checks of the database share a breaker: while it is open no run asks.
quota "database" {
  circuit_breaker {
    failures = 2
    reset    = "5m"
  }
}

workflow "task" {
  input "task" {
    type    = string
    default = "Write the invoices."
  }

  # Hard: without it nothing continues.
  step "database" {
    run   = ["./agents/check", "database"]
    quota = quota.database
    retry {
      max_attempts = 100
      base_delay   = "1m"
      max_delay    = "1m"
      when         = "true"
    }
  }

  # Soft: the last value that was read takes its place.
  step "prices" {
    run        = ["./agents/check", "prices"]
    parse      = "json"
    output     = object({ gold = number })
    on_error   = "continue"
    depends_on = [step.database]
  }

  step "keep" {
    when = "step.prices.status == 'succeeded'"
    kv {
      set   = "prices"
      value = { prices = step.prices.output, at = now }
    }
  }

  step "kept" {
    when = "step.prices.status == 'failed'"
    kv { get = "prices" }
    output = object({ prices = object({ gold = number }), at = string })
  }

  step "warn" {
    when = "step.kept.status == 'succeeded'"
    notify {
      to   = [channel.operators]
      text = "The prices cannot be read; those of ${try(step.kept.output.at, "never")} stand in."
    }
  }

  step "work" {
    agent = agent.worker
    task  = input.task
    with = {
      prices = step.prices.status == "succeeded" ? step.prices.output : step.kept.output.prices
      of     = step.prices.status == "succeeded" ? now : step.kept.output.at
    }
    depends_on = [step.warn]

    require {
      condition = "step.prices.status == 'succeeded' || step.kept.output != null && timeadd(step.kept.output.at, '24h') > now"
      message   = "the prices cannot be read, and those of the store are too old"
    }
  }
}
