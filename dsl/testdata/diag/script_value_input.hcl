workflow "w" {
  input "x" { type = string }
  step "a" {
    run = <<-EOT
      sh <<END
      echo ${input.x}
      END
    EOT
  }
}
