workflow "w" {
  step "version" {
    run = "echo version=1 >> \"$FLOWRUN_OUTPUT\""
  }
}
