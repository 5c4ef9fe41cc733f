workflow "w" {
  classify {
    when = "error.knd == 'fatal'"
    kind = "fatal"
  }
  classify {
    when = "step.b.status == 'failed'"
    kind = "transient"
  }
  step "a" {
    agent = agent.a
    classify {
      when = "elapsed > 5"
      kind = "temporary"
    }
    classify { kind = "fatal" }
    classify {
      when = "attempt"
      kind = "fatal"
    }
  }
  step "b" {
    value = 1
    classify {
      when = "elapsed > 5"
      kind = "fatal"
    }
  }
  step "c" {
    run  = ["true"]
    when = "elapsed > 5"
  }
}

agent "a" {
  type    = "exec"
  command = ["a"]
  classify {
    when = "step.b.status == 'failed'"
    kind = "transient"
  }
}
