agent "goose" {
  type  = "shell"
  input = "text"
  run   = <<-EOT
    # Goose before September 2026 exits 0 when the provider fails. The failure stands in what it prints.
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    { goose run --no-session --quiet --instructions - || echo $? >"$dir/code"; } | tee "$dir/said"
    awk -v code="$(cat "$dir/code" 2>/dev/null)" '
      /Ran into this error: |Please resend your message to try again|The error above was an exception we were not able to handle/ { failure = failure $0 "\n" }
      END {
        if (failure == "" && code == "") exit 0
        printf "%s", failure > "/dev/stderr"
        exit failure ~ /[Rr]ate limit|429|[Oo]verloaded|Server error|Network error|timed out/ ? 75 : code + 0 > 0 ? code : 1
      }' "$dir/said"
  EOT
  output_format = "text"
  pass_env      = ["GOOSE_PROVIDER", "GOOSE_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"]
  timeout       = "30m"
}
