workflow "w" {
  step "a" { run = ["true"] }
  finally {
    step "say" { run = ["echo", step.tidy.status] }
    step "tidy" { run = ["rm", "-rf", "tmp"] }
  }
}
