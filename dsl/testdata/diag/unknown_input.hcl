workflow "w" {
  input "ticket" { type = string }
  step "a" { run = ["echo", input.tiket] }
}
