# What is done about failures, and at the end.
agent "quick" {
  type    = "exec"
  command = ["quick"]
  output  = object({ text = string })
}
agent "strong" {
  type    = "exec"
  command = ["strong"]
  output  = object({ text = string, sure = bool })
}
gate "shape" {
  schema  = { type = "object", required = ["text"] }
  on_fail = "retry"
}
workflow "recovery" {
  shell = "bash"
  step "write" {
    agent    = agent.quick
    fallback = [agent.strong]
    task     = "write it. ${feedback == null ? "" : "Mind this: ${feedback}"}"
    gates    = [gate.shape]
    on_lost  = "fail"
    deadline {
      after    = "1h"
      progress = [25, 50, 75]
    }
    compensate {
      run     = "undo"
      dir     = "work"
      env     = { ID = "${run.id}", TEXT = jsonencode(result.output) }
      timeout = "1m"
    }
  }
  step "publish" {
    run = ["publish", jsonencode(step.write.output)]
    compensate { run = ["withdraw", "--", coalesce(step.write.stdout, "nothing"), result.status] }
  }
  finally {
    timeout = "10m"
    step "tidy" { run = ["tidy", run.status] }
    parallel "tell" {
      when = "run.status == 'failed'"
      step "mail" { run = ["mail", "--", run.error == null ? "" : run.error.message, join(",", run.failed)] }
      step "chat" { run = ["chat", "--", step.tidy.status, coalesce(step.publish.output, "none")] }
      step "log" { run = ["log", "--", coalesce(step.mail.output, "none")] }
    }
  }
  output "tidy" { value = step.tidy.status }
}
