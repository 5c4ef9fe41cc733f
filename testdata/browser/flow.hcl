# What the browser looks at: a run that failed, one that waits for a person, texts that want to be code, a loop and a routine.
agent "reviewer" {
  type    = "exec"
  command = ["sh", "-c", "cat >/dev/null; printf '{\"type\":\"result\",\"output\":{\"verdict\":\"<script>alert(1)</script>\"}}\\n'"]
}

workflow "release" {
  default = true

  step "build" { run = "printf '\\033[32mgreen\\033[0m <b>bold</b> \\033]0;title\\007\\n'; printf 'long-%0200d\\n' 7; echo '\"><script>alert(1)</script>' >&2" }
  step "test" {
    for_each   = ["unit", "<img src=x onerror=alert(1)>", "end-to-end", "javascript:alert(1)"]
    depends_on = [step.build]
    run        = "test ${each.key} != 2"
  }
  step "review" {
    depends_on = [step.build]
    agent      = agent.reviewer
    task       = "Review </textarea><script>alert(1)</script>"
  }
  parallel "deploy" {
    depends_on = [step.test, step.review]
    step "eu" { run = "true" }
    step "us" { run = "true" }
  }
}

workflow "approval" {
  step "ok" {
    approve {
      prompt = "Release \"'><script>alert(1)</script><img src=x onerror=alert(1)>?"
      show   = { notes = "</pre><script>alert(1)</script>", count = 3 }
      input "day" {
        type    = string
        default = "monday"
      }
    }
  }
  step "then" {
    depends_on = [step.ok]
    value      = step.ok.output.input.day
  }
}

workflow "work" {
  input "id" { type = string }
  step "a" { value = input.id }
}

loop "engineering" {
  agents = [agent.reviewer]
  source "dispatch" {}
  handle {
    workflow = workflow.work
    with     = { id = item.id }
  }
}

routine "nightly" {
  workflow = workflow.work
  with     = { id = "night" }
  cron     = "0 2 * * *"
}

workflow "quick" {
  step "nap" { run = "sleep 0.1" }
}

workflow "many" {
  step "all" {
    for_each = range(0, 1000)
    require {
      condition = "each.value % 250 != 3"
      message   = "number ${each.value} is not good"
    }
    value = each.value
  }
}
