variable "token" {
  type      = string
  sensitive = true
}

channel "hook" {
  type    = "webhook"
  url     = "https://example.com/${var.token}"
  secret  = var.token
  headers = { Authorization = "Bearer ${var.token}" }
}

channel "log" {
  type = "file"
  path = "${var.token}.jsonl"
}

workflow "w" {
  step "tell" {
    notify {
      to   = [channel.hook, channel.log]
      text = "The token is ${var.token}"
    }
  }
}
