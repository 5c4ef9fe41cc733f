workflow "w" {
  step "a" { run = ["echo", step.tidy.output] }
  finally {
    step "tidy" { run = ["rm", "-rf", "tmp"] }
  }
}
