workflow "w" {
  input "x" { type = string }
  step "a" {
    run = <<-EOT
      echo "$${NAME:-'${input.x}'}"
    EOT
  }
}
