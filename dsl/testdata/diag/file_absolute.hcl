workflow "w" {
  step "s" { value = "hosts: ${file("/etc/hosts")}" }
}
