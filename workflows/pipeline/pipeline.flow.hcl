# Items go through stages. Each stage is an agent with its own queue; the concurrency of the agent limits its items at work.
# An item moves to the next stage as soon as its stage is done; items do not wait for each other between stages.

agent "ingest" {
  type        = "exec"
  command     = ["./agents/stage", "ingest"]
  concurrency = 4
}

agent "process" {
  type        = "exec"
  command     = ["./agents/stage", "process"]
  concurrency = 2
}

agent "analyze" {
  type        = "exec"
  command     = ["./agents/stage", "analyze"]
  concurrency = 1
}

workflow "pipeline" {
  input "items" {
    type    = list(string)
    default = ["monday", "tuesday", "wednesday"]
  }

  sequence "item" {
    for_each = input.items
    value    = step.analyze.output

    step "ingest" {
      agent = agent.ingest
      with  = { item = each.value }
    }

    step "process" {
      agent = agent.process
      with  = { item = each.value, raw = step.ingest.output }
    }

    step "analyze" {
      agent = agent.analyze
      with  = { item = each.value, clean = step.process.output }
    }
  }

  output "results" { value = step.item.output }
}
