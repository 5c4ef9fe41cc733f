channel "c" { type = "bell" }

workflow "w" {
  step "a" {
    handoff {
      to            = 7
      summary       = "done"
      next          = "go on"
      files_changed = "a.go"
      artifacts     = { tests = [1] }
      priority      = 2000
      notify        = [channel.c, channel.c]
    }
  }

  step "b" { value = step.a.output.duplicate }
}
