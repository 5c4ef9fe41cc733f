workflow "w" {
  step "a" {
    run = "echo a=1 >> $FLOWRUN_OUTPUT"
    env = { FLOWRUN_OUTPUT = "out.txt", FLOWRUN_V0 = "x", FLOWRUN_VERSION = "1" }
  }
}
