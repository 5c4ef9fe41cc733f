channel "team" { type = "bell" }

workflow "w" {
  step "tell" {
    notify {
      to   = [channel.team]
      text = "hello"
    }
    retry { max_attempts = 3 }
  }
}
