variable "billing_key" {
  type      = string
  sensitive = true
}

agent "search" {
  type    = "mcp"
  command = ["npx", "search-server"]
  tool    = "search"
  pin     = file("search.tool.json") # flowrun agents pin search --out search.tool.json
  timeout = "1m"
}

agent "coder" {
  type    = "acp"
  command = ["coder", "--acp"]
  timeout = "30m"
  files   = "write"

  permission {
    kinds = ["read", "search", "think"]
    allow = true
  }

  permission {
    kinds = ["edit"]
    paths = ["src/**", "docs/*.md"]
    allow = true
  }

  server "issues" { # the agent starts it itself
    command = ["issue-server", "--read-only"]
    env     = { LOG_LEVEL = "error" }
  }
}

agent "billing" {
  type    = "a2a"
  url     = "https://billing.example.com"
  headers = { Authorization = "Bearer ${var.billing_key}" }
  timeout = "10m"
  output  = object({ total = number })
}

workflow "w" {
  step "find" {
    agent = agent.search
    with  = { query = "invoices", limit = 3 }
  }

  step "sum" {
    agent = agent.billing
    task  = "Add up these invoices."
    with  = { invoices = step.find.output }
  }

  step "fix" {
    agent = agent.coder
    task  = "Write the total ${step.sum.output.total} to docs/total.md."
  }
}
