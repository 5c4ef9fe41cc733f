gate "unused" {
  check   = "result.outptu.words > var.leats"
  message = "only ${resutl.output}"
}

gate "used" { check = "result.output.words > 3 || result.attemps > 3" }

workflow "w" {
  step "one" {
    run   = ["wc"]
    parse = "json"
    gates = [gate.used]
  }
  step "two" {
    value = { words = 3 }
    gates = [gate.used]
  }
}
