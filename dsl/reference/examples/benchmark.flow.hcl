gate "fast" {
  benchmark {
    run            = ["./bench"]
    metric         = "allocations"
    baseline       = "parser"
    samples        = 10
    max_regression = "5%"
  }
}

gate "clear" {
  review {
    agent    = agent.judge
    task     = "Is this text easy to read? ${result.output}"
    criteria = { clarity = 8, correctness = 9 }
  }
}

agent "judge" {
  type    = "exec"
  command = ["./agent"]
  timeout = "5m"
}

workflow "w" {
  step "build" {
    run   = ["make"]
    dir   = "parser"
    gates = [gate.fast, gate.clear]
  }
}
