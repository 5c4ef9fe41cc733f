# What a workflow requires is asked before anything starts.
workflow "guarded" {
  input "size" {
    type    = number
    default = 11
  }

  require {
    condition = "input.size <= 10"
    message   = "too large"
  }

  step "work" { run = ["say", "worked"] }
}
