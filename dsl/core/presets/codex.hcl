agent "codex" {
  type           = "exec"
  command        = ["codex", "exec", "--json", "--sandbox", "workspace-write", "--skip-git-repo-check"]
  input          = "text"
  output_format  = "assistant"
  resume_session = ["resume", "{session}", "-"]
  pass_env       = ["OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME"]
  timeout        = "30m"
}
