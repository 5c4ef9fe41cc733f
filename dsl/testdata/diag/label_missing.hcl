workflow {
  step "a" { run = ["true"] }
}
