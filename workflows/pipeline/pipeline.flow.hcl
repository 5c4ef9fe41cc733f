# Items go through stages. Each stage is an agent with a queue of its own: its concurrency says how many items it works on at once.
# An item moves on as soon as its stage is done with it; the items do not wait for each other between the stages.

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
