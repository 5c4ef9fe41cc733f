channel "mail" {
  type = "smtp"
  host = "mail.example.com"
  from = "flowrun"
  to   = ["team@example.com", "nobody"]
}

channel "topic" {
  type = "ntfy"
  url  = "https://ntfy.example.com/"
}

workflow "w" {
  step "tell" {
    notify {
      to   = [channel.mail, channel.topic]
      text = "hello"
    }
  }
}
