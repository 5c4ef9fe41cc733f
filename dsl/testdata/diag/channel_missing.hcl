channel "pager" {
  type    = "webhook"
  command = ["page"]
}

workflow "w" {
  step "tell" {
    notify {
      to   = [channel.pager]
      text = "hello"
    }
  }
}
