# Messages: a step tells channels. A channel that cannot be reached is tried three times, and fails a step only if it stands alone.
channel "log" {
  type   = "file"
  path   = "messages.jsonl"
  dedupe = "0s"
}

channel "program" {
  type    = "exec"
  command = ["sh", "-c", "cat >program.json"]
}

channel "broken" {
  type = "file"
  path = "missing/messages.jsonl"
}

workflow "watch" {
  step "check" { value = "3 files" }

  step "tell" {
    notify {
      to    = [channel.log, channel.program]
      title = "Check"
      text  = "Found ${step.check.output}"
      level = "warning"
      data  = { files = 3 }
    }
  }

  step "many" {
    for_each = ["a", "b", "c"]
    notify {
      to   = [channel.log]
      text = "File ${each.value}"
    }
  }

  step "partly" {
    notify {
      to   = [channel.broken, channel.log]
      text = "one of two"
    }
  }

  step "nobody" {
    notify {
      to   = [channel.broken]
      text = "nobody hears it"
    }
    on_error = "continue"
  }

  output "told" { value = step.tell.output }
  output "many" { value = [for one in step.many.output : one.sent] }
  output "partly" { value = step.partly.output }
  output "nobody" { value = [step.nobody.error.kind, step.nobody.error.reason] }
}
