agent "gemini" {
  type           = "exec"
  command        = ["gemini", "--output-format", "json", "--approval-mode", "auto_edit", "--skip-trust"]
  input          = "text"
  output_format  = "assistant"
  new_session    = ["--session-id", "{session}"]
  resume_session = ["--resume", "{session}"]
  pass_env       = ["GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL"]
  timeout        = "30m"
}
