gate "g" { run = "echo size=1 >> \"$FLOWRUN_OUTPUT\"" }
workflow "w" {
  step "a" {
    run   = ["true"]
    gates = [gate.g]
  }
}
