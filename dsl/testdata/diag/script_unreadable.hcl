workflow "w" {
  input "x" { type = string }
  step "a" {
    run = <<-EOT
      if [ ${input.x} = a ]
        echo yes
      fi
    EOT
  }
}
