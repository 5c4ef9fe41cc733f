# Command-line agents that know nothing of flowrun: they read a prompt and print text, or one JSON object.
# See  flowrun explain protocol.  To run it, have the programs and their accounts:
#
#   flowrun apply examples/coding-agents --input 'ticket=Add a --version flag'

agent "claude" {
  type          = "exec"
  command       = ["claude", "-p", "--output-format", "json", "--permission-mode", "acceptEdits"]
  input         = "text" # the prompt, on standard input
  output_format = "json" # one object: result, is_error, session_id, total_cost_usd
  pass_env      = ["ANTHROPIC_API_KEY"]
  timeout       = "30m"

  # An attempt that breaks off is continued in its session.
  new_session    = ["--session-id", "{session}"]
  resume_session = ["--resume", "{session}"]
}

agent "codex" {
  type          = "exec"
  command       = ["codex", "exec", "--sandbox", "read-only", "-"]
  input         = "text"
  output_format = "text" # what it prints is its answer; what it does goes to standard error
  pass_env      = ["OPENAI_API_KEY"]
  timeout       = "30m"
  heartbeat     = "5m" # it tells on standard error what it does
}

# One that wants the prompt as its last argument.
agent "last_word" {
  type          = "shell"
  run           = "exec \"$${SUMMARIZER:-echo}\" \"Task: $FLOWRUN_TASK\""
  output_format = "text"
  pass_env      = ["SUMMARIZER"]
}

workflow "change" {
  input "ticket" { type = string }

  step "write" {
    agent = agent.claude
    task  = "Change the code in this folder, and say in three sentences what you did. The ticket: ${input.ticket}"
    gate "builds" {
      run     = "git diff --check"
      on_fail = "retry"
    }
  }

  step "review" {
    agent = agent.codex
    task  = "Review the uncommitted changes in this folder. Its author says: ${step.write.output.result}"
  }

  step "summary" {
    agent = agent.last_word
    task  = "Put this review in one sentence: ${step.review.output}"
  }

  output "review" { value = step.review.output }
  output "summary" { value = step.summary.output }
  output "cost_usd" { value = step.write.output.total_cost_usd }
}
