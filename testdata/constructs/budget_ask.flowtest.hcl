test "Nobody decides, so what waits ends with its time" {
  crash_everywhere = true
  step "drafts/first" { replies = [{}] }
  step "drafts/second" { replies = [{}] }
  step "report/parts" { replies = [{}] }
  step "called/parts/one" { replies = [{}] }
  at "1s" { expect = ["sort(map(inbox, .node)) == ['called/parts/.', 'drafts', 'report/.'] && inbox[0].kind == 'budget' && inbox[0].words == ['continue', 'stop']"] }
  expect = [
    "run.outputs.drafts == ['failed', 2] && run.outputs.report == 1 && run.outputs.called == ['failed', 1]",
    "node['drafts/third'].status == 'cancelled' && len(inbox) == 0",
    "elapsed == 4",
  ]
}

test "People decide whether more may start" {
  crash_everywhere = true
  step "drafts/first" { replies = [{}] }
  step "drafts/second" { replies = [{}] }
  step "report/parts" { replies = [{}] }
  step "called/parts/one" { replies = [{}] }
  step "drafts/third" { replies = [{}] }
  step "called/parts/two" { replies = [{}] }

  decide "drafts" {
    decision = "continue"
    by       = "ann"
    after    = "10ms"
  }

  decide "report/." {
    decision = "stop"
    by       = "bob"
    after    = "20ms"
  }

  decide "called/parts/." {
    decision = "continue"
    by       = "cid"
    after    = "30ms"
  }
  expect = [
    "run.outputs.drafts == ['succeeded', 3] && run.outputs.report == 1 && run.outputs.called == ['succeeded', 2]",
    "node['report/parts[1]'].error.message contains 'bob stopped it'",
    "elapsed == 0.03",
  ]
}
