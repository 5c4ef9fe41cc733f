agent "aider" {
  type  = "shell"
  input = "text"
  run   = <<-EOT
    # Aider exits 0 when the provider fails. The failure stands in what it prints: words of litellm, and no count of tokens behind them.
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    cat >"$dir/task"
    { aider --yes-always --no-pretty --no-stream --no-check-update --message-file "$dir/task" </dev/null || echo $? >"$dir/code"; } | tee "$dir/said"
    if [ -e "$dir/code" ]; then exit "$(cat "$dir/code")"; fi
    awk '
      /litellm\.|^The API provider|Check your API key/ { failure = failure $0 "\n" }
      /^Tokens: / { failure = "" }
      END {
        if (failure == "") exit 0
        printf "%s", failure > "/dev/stderr"
        exit failure ~ /RateLimit|rate limited|overloaded|timed out|APIConnection|Connection error/ ? 75 : 1
      }' "$dir/said"
  EOT
  output_format = "text"
  pass_env      = ["AIDER_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"]
  timeout       = "30m"
}
