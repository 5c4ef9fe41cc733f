workflow "w" {
  input "x" { type = string }
  step "a" {
    run = <<-EOT
      cat <<'END'
      ticket: ${input.x}
      END
    EOT
  }
}
