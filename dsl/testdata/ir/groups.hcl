gate "g" {
  check   = "result.stdout contains 'ok' and result.exit_code == 0"
  message = "no ok in ${result.stdout}"
}
workflow "w" {
  retry { max_attempts = 2 }
  shell = "bash"
  env   = { A = "1" }
  input "xs" { type = list(string) }
  input "m" { type = map(number) }
  sequence "s" {
    when = "len(input.xs) > 0"
    step "a" {
      run   = "echo hi"
      gates = [gate.g]
      gate "own" { check = "result.output == 'hi' && step.pre.exit_code == 0" }
    }
    step "b" { run = ["echo", step.a.output, step.a.stdout, previous.output] }
  }
  step "pre" { run = ["true"] }
  step "each" {
    for_each        = input.m
    max_concurrency = 3
    run             = ["echo", each.key, each.value, run.id]
    timeout         = "1m"
  }
  step "join" { value = join(",", values(step.each.output)) }
  step "report" {
    when = "step.pre.status == 'failed'"
    run  = ["echo", "failed: ${step.pre.error.message}"]
  }
  parallel "p" {
    retry { max_attempts = 3 }
    step "x" { run = ["true"] }
    step "y" {
      wait { duration = "1s" }
    }
  }
  step "last" { run = ["echo", step.p.output.x] }
  output "r" { value = coalesce(step.report.output, "fine") }
}
