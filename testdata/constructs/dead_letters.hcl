# A task that fails three times does not stop the others. The run is a dead letter, and somebody is paged.
channel "pager" {
  type    = "exec"
  command = ["sh", "-c", "cat >page.json"]
}

workflow "queue" {
  step "task" {
    for_each = ["good", "poison", "better"]
    run      = ["exit", each.value == "poison" ? "1" : "0"]
    retry {
      max_attempts = 3
      base_delay   = "100ms"
      jitter       = "none"
    }
  }

  step "page" {
    notify {
      to    = [channel.pager]
      title = "Production is down"
      text  = "Run ${run.id}: ${step.task.error.message}"
      level = "emergency"
    }
    when = "step.task.status == 'failed'"
  }
}
