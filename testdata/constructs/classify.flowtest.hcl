test "The nearest rule that holds gives an error its kind, and the kind decides about another attempt" {
  crash_everywhere = true
  step "gives_up" { replies = [{ exit_code = 3 }] }
  step "nearer" { replies = [{ exit_code = 3 }] }
  step "tries_on" { replies = [{ exit_code = 4 }] }
  agent "worker" { replies = [{ error = { kind = "transient", message = "it fails" } }] }

  expect = [
    "run.status == 'succeeded'",
    "step.gives_up.error.kind == 'fatal' && step.gives_up.attempts == 1",
    "node['inside/nearer'].error.kind == 'blocking' && node['inside/nearer'].attempts == 1",
    "step.tries_on.error.kind == 'transient' && step.tries_on.attempts == 2",
    "step.asks.error.kind == 'blocking' && step.asks.attempts == 2",
    "len(calls.worker) == 2",
  ]
}
