channel "a" {
  type = "pigeon"
}

channel "b" {
  type = "smtp"
  host = "mail.example.com"
  from = "flowrun@example.com"
  to   = { team = "team@example.com" }
}

channel "c" {
  type = "webhook"
  url  = "ftp://example.com/x"
}

workflow "w" {
  step "tell" {
    notify {
      to   = [channel.a, channel.b, channel.c]
      text = "hello"
    }
  }
}
