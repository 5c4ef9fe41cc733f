quota "gpu" { capacity = 2 }

workflow "w" {
  input "n" { type = string }
  step "a" {
    run   = ["true"]
    quota = { gpu = 3 }
  }
  step "b" {
    run   = ["true"]
    quota = { gpu = 0 }
  }
  step "c" {
    run   = ["true"]
    quota = { gpu = 1.5 }
  }
  step "d" {
    run   = ["true"]
    quota = { gpu = input.n }
  }
}
