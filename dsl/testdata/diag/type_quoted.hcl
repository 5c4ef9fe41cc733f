workflow "w" {
  input "n" { type = list("string") }
  step "a" { run = ["true"] }
}
