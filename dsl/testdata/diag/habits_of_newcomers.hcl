agent "senior" {
  command = ["senior"]
}

gate "coverage" { check = "result.output => '80'" }

gate "same" { check = "result.output === '80'" }

workflow "w" {
  step "test" {
    run   = ["make", "test"]
    gates = [gate.coverage, gate.same]
  }
}
