workflow "w" {
  input "files" { type = list(string) }
  step "a" { run = ["wc", input.files] }
}
