agent "aider" {
  type          = "shell"
  run           = "exec aider --yes-always --no-pretty --no-stream --no-check-update --message \"$FLOWRUN_TASK\""
  output_format = "text"
  pass_env      = ["AIDER_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"]
  timeout       = "30m"
}
