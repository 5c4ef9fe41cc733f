# Models behind APIs: one writes, another one judges, and the text is written again until the judge is content.
# model.py stands in for both, so that it runs without a key and without a network:
#
#   python3 examples/chat/model.py 8089 &
#   flowrun apply examples/chat
#   flowrun agents test writer examples/chat
#
# With a provider, remove base_url and give the key:  key = var.openai_key,  a sensitive variable.

variable "url" {
  type    = string
  default = "http://127.0.0.1:8089"
}

agent "writer" {
  type       = "chat"
  provider   = "openai"
  base_url   = "${var.url}/v1"
  model      = "stub-writer"
  max_tokens = 400
  soul       = "You write short texts for release notes."
  heartbeat  = "30s"
  prices {
    input  = 0.25
    output = 2
  }
}

agent "judge" {
  type     = "chat"
  provider = "anthropic"
  base_url = var.url
  model    = "stub-judge"
  soul     = "You judge texts. You are strict."
}

gate "short_enough" {
  on_fail = "retry"
  review {
    agent    = agent.judge
    criteria = { brevity = 0.7 }
    block    = "high"
  }
}

workflow "notes" {
  description = "Release notes that a second model accepts."

  input "changes" {
    type    = list(string)
    default = ["agents of type chat", "flowrun agents test"]
  }

  budget { cost_usd = 0.10 }

  step "write" {
    agent = agent.writer
    task  = "Write release notes."
    with  = { changes = input.changes }
    gates = [gate.short_enough]
    retry { max_attempts = 3 }
  }

  output "notes" { value = step.write.output }
  output "attempts" { value = step.write.attempts }
}
