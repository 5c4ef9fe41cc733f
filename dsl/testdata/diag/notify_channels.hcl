channel "team" { type = "bell" }

workflow "w" {
  step "none" {
    notify {
      to   = []
      text = "hello"
    }
  }

  step "twice" {
    notify {
      to   = [channel.team, channel.team]
      text = "hello"
    }
  }

  step "unknown" {
    notify {
      to   = [channel.taem]
      text = "hello"
    }
  }

  step "empty" {
    notify {
      to   = [channel.team]
      text = ""
    }
  }
}
