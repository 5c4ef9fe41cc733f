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

workflow "agent_chat" {
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
