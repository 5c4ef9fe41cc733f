channel "mail" {
  type = "smtp"
  host = "mail.example.com:587"
  from = "flowrun@example.com"
  to   = ["team@example.com"]
}

channel "chat" {
  type    = "webhook"
  url     = "https://chat.example.com/hook"
  headers = { X-Team = "build" }
}

workflow "w" {
  step "tell" {
    notify {
      to   = [channel.mail, channel.chat]
      text = "The build is done."
    }
  }
}
