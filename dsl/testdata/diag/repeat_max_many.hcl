workflow "w" {
  step "poll" {
    run = ["true"]
    repeat { max = 100000 }
  }
}
