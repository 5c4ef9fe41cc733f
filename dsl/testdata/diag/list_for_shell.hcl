workflow "w" {
  input "name" { type = string }
  step "home" { run = ["echo", "$HOME"] }
  step "pipe" {
    run = ["cat", "a.txt", "|", "sort"]
    gate "same" { run = ["diff", input.name, "b.txt", ">", "out.diff"] }
  }
  step "both" { run = ["make", "build", "&&", "make", "test it"] }
  step "compare" { run = ["test", "a", "<", "b"] }
  step "option" { run = ["sort", "-t", "|", "a.txt"] }
  step "script" { run = ["sh", "-c", "echo $HOME | sort"] }
  # flowrun-ignore: F0329
  step "meant" { run = ["printf", "%s", ">"] }
}
