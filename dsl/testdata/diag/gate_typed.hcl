gate "long" {
  check   = "result.output.wrods >= 3"
  message = "only ${result.output.wrod} words"
}

gate "counted" {
  run = ["check-words", "--", result.output.wordz]
  env = { WORDS = result.output.words, FILE = result.output.file }
}

gate "unused" { check = "result.output.whatever > 3" }

gate "printed" { check = "result.output.words > 3" }

workflow "w" {
  step "draft" {
    run    = ["wc"]
    parse  = "json"
    output = object({ words = number })
    gates  = [gate.long, gate.counted]
  }
  step "second" {
    value = { words = 3 }
    gates = [gate.long]
  }
  step "plain" {
    run   = ["wc", "-w"]
    gates = [gate.printed]
  }
  step "anything" {
    run   = ["wc"]
    parse = "json"
    gates = [gate.long, gate.counted, gate.printed]
  }
}
