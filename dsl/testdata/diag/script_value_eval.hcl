workflow "w" {
  input "x" { type = string }
  step "a" {
    run = <<-EOT
      trap "rm -r ${input.x}" EXIT
      make
    EOT
  }
}
