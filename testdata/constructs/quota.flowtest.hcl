test "Attempts and groups share quotas, and starts keep their pace" {
  crash_everywhere = true
  step "deploy" { replies = [{ takes = "10s" }] }
  step "again" { replies = [{ takes = "10s" }] }
  step "publish" { replies = [{ takes = "10s" }] }
  step "train" { replies = [{ takes = "10s" }] }
  step "ask" { replies = [{ takes = "100ms" }] }

  at "5s" { expect = ["node['second'].status == 'waiting' && node['train[2]'].status == 'waiting'"] }

  expect = [
    "run.status == 'succeeded' && elapsed == 30",
    "calls.again[0].at == 10 && calls.publish[0].at == 20",
    "max_at_once.train == 2 && calls['train[2]'][0].at == 10",
    "calls['ask[1]'][0].at < 1 && calls['ask[2]'][0].at == 2 && calls['ask[3]'][0].at == 2",
    "step.too_much.error.kind == 'fatal' && run.outputs.why == 'limit'",
  ]
}
