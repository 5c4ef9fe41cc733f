workflow "w" {
  input "title" { type = string }
  step "a" { run = "echo ${input.title} done" }
}
