workflow "w" {
  input "query" { type = string }

  step "search" {
    http {
      url       = "https://api.example.com/search"
      method    = "POST"
      query     = { page = "1" }
      headers   = { Accept = "application/json" }
      body      = { text = input.query }
      expect    = [200, 404]
      follow    = 3
      max_bytes = 65536
    }
  }
}
