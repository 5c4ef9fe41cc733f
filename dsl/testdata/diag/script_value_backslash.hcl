workflow "w" {
  input "x" { type = string }
  step "a" {
    run = <<-EOT
      echo \${input.x}
    EOT
  }
}
