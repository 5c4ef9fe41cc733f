workflow "w" {
  input "x" { type = string }
  step "a" {
    shell = "bash"
    run   = <<-EOT
      echo $'one\t${input.x}'
    EOT
  }
}
