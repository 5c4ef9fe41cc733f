agent "goose" {
  type          = "exec"
  command       = ["goose", "run", "--no-session", "--quiet", "--instructions", "-"]
  input         = "text"
  output_format = "text"
  pass_env      = ["GOOSE_PROVIDER", "GOOSE_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"]
  timeout       = "30m"
}
