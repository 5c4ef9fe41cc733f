workflow "w" {
  input "files" { type = list(string) }
  step "a" {
    run = ["true"]
    env = { FILES = input.files }
  }
}
