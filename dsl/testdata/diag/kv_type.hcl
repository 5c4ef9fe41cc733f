workflow "w" {
  step "n" {
    kv { incr = "n" }
  }
  step "last" {
    kv { get = "last" }
    output = number
  }
  step "next" { value = step.last.output + 1 }
  step "swap" {
    kv {
      cas   = "n"
      old   = 1
      value = 2
    }
  }
  step "a" {
    run  = ["true"]
    when = "step.n.output == 'one' || step.swap.output.swaped"
  }
}
