quota "gpu" { capacity = 2 }

workflow "w" {
  input "n" { type = number }
  step "a" {
    run   = ["true"]
    quota = input.n > 1 ? quota.gpu : null
  }
  step "b" {
    run   = ["true"]
    quota = { "g${input.n}" = 1 }
  }
  step "c" {
    run   = ["true"]
    quota = []
  }
  step "d" {
    run   = ["true"]
    quota = {}
  }
}
