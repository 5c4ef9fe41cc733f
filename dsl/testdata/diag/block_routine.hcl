routine "nightly" {
  cron = "0 2 * * *"
}
workflow "w" {
  step "a" {
    run = ["true"]
  }
}
