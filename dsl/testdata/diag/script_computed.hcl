workflow "w" {
  input "cmd" { type = string }
  step "a" { run = input.cmd }
}
