workflow "w" {
  step "write" {
    run        = ["write"]
    timeout    = "1m"
    on_timeout = "handin"
  }
}
