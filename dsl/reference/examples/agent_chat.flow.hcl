variable "anthropic_key" {
  type      = string
  sensitive = true
}

agent "reviewer" {
  type        = "chat"
  provider    = "anthropic"
  model       = "claude-sonnet-4-5"
  key         = var.anthropic_key
  max_tokens  = 2000
  temperature = 0
  soul        = "You review texts. You are short and exact."
  output      = object({ verdict = string, reasons = list(string) })
}

agent "local_model" { # a server on this machine with the API of OpenAI
  type     = "chat"
  provider = "openai"
  api      = "chat"
  base_url = "http://localhost:11434/v1"
  model    = "llama3.2"
}

agent "other" {
  type     = "chat"
  provider = "gemini"
  model    = "gemini-2.5-flash"
  key_env  = "GEMINI_API_KEY"
}

agent "librarian" { # a model that may use tools of two MCP servers
  type           = "chat"
  provider       = "openai"
  model          = "gpt-5-mini"
  key_env        = "OPENAI_API_KEY"
  timeout        = "5m"
  max_turns      = 10
  context_tokens = 50000

  server "files" {
    command = ["mcp-server-filesystem", "."]
    tools   = ["read_text_file", "list_directory"]
    dir     = "docs"
    env     = { LOG_LEVEL = "error" }
  }

  server "catalogue" {
    url     = "https://catalogue.example/mcp"
    headers = { X-Team = "tides" }
    tools   = ["search"]
    pin     = file("catalogue.tools.json") # flowrun agents pin librarian --server catalogue --out catalogue.tools.json
  }
}

workflow "agent_chat" {
  step "sources" {
    agent = agent.librarian
    task  = "Which of our files and which books are about tides?"
  }

  step "draft" {
    agent = agent.local_model
    task  = "Write three sentences about tides."
  }

  step "review" {
    agent    = agent.reviewer
    task     = "Is this text correct?"
    with     = { text = step.draft.output }
    fallback = [agent.other]
  }
}
