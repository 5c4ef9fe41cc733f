workflow "w" {
  step "stop" {
    end { status = "success" }
  }
}
