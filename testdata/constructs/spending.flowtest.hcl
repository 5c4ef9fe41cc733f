test "Agents and steps wait for what a quota allows to be spent" {
  crash_everywhere = true
  step "call" { replies = [{ takes = "100ms" }] }

  agent "worker" {
    replies = [{
      takes = "100ms"
      usage = { cost_usd = request.with.costs }
    }]
  }

  at "1s" {
    expect = [
      "node['ask[2]'].status == 'waiting' && node['call[2]'].status == 'waiting'",
      "len(calls.worker) == 2 && len(calls.call) == 2",
    ]
  }

  expect = [
    "run.status == 'succeeded' && run.outputs.cost == 1.5",
    "calls['ask[2]'][0].at == 2.1",
    "calls['call[2]'][0].at == 2",
  ]
}
