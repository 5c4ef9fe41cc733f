workflow "w" {
  input "env" { type = string }
  concurrency {
    group     = "deploy-${input.env}"
    when_busy = "cancel"
  }
  step "a" { value = 3 }
}
