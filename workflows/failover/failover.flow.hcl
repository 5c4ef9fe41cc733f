# If an agent fails, another agent gets the same task. If both fail, a simpler result replaces theirs, and the run continues.

agent "first" {
  type    = "exec"
  command = ["./agents/first"]
  retry {
    max_attempts = 2
    base_delay   = "10s"
    jitter       = "none"
  }
}

agent "second" {
  type    = "exec"
  command = ["./agents/second"]
}

workflow "translate" {
  input "text" {
    type    = string
    default = "Bonjour."
  }

  step "translate" {
    agent    = agent.first
    fallback = [agent.second]
    task     = "Translate the text."
    with     = { text = input.text }
    output   = object({ text = string })
    degrade { output = { text = input.text } }
  }

  output "text" { value = step.translate.output.text }
  output "degraded" { value = step.translate.status != "succeeded" }
}
