agent "claude" {
  type           = "exec"
  command        = ["claude", "-p", "--output-format", "json", "--permission-mode", "acceptEdits"]
  input          = "text"
  output_format  = "assistant"
  new_session    = ["--session-id", "{session}"]
  resume_session = ["--resume", "{session}"]
  pass_env       = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES"]
  timeout        = "30m"
}
