# The run tells people of a deadline and of a budget by messages of its own. A channel that is down fails no node.
channel "log" {
  type = "file"
  path = "messages.jsonl"
}

channel "broken" {
  type = "file"
  path = "missing/messages.jsonl"
}

workflow "watched" {
  budget {
    attempts  = 4
    warn      = 50
    on_exceed = "warn"
    notify    = [channel.log]
  }

  step "quick" {
    for_each = [1, 2]
    run      = ["say", "${each.value}"]
  }

  step "slow" {
    run      = ["sleep", "60"]
    on_error = "continue"
    deadline {
      after    = "2s"
      progress = [50]
      notify   = [channel.log, channel.broken]
    }
  }
}
