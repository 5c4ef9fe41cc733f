workflow "w" {
  input "n" { type = strng }
  step "a" { run = ["true"] }
}
