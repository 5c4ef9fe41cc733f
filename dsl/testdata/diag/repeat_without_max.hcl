workflow "w" {
  step "poll" {
    run = ["test", "-f", "done"]
    repeat { until = "result.exit_code == 0" }
  }
}
