workflow "w" {
  input "title" { type = string }
  step "a" {
    run = ["node", "-e", "console.log('${input.title}')"]
  }
  step "b" {
    run = ["git", "clone", input.title, "src"]
  }
  step "c" {
    run = ["sh", "-c", "echo \"$1\"", "sh", input.title]
  }
  step "d" {
    run = [input.title, "-c", "echo ${input.title}"]
  }
}
