test "one of five has the claim, and the others learn who" {
  crash_everywhere = true
  inputs           = { task = "T-17" }
  agent "worker" { replies = [{ output = "done", takes = "10m" }] }

  at "5m" { expect = ["kv['claims/T-17'] != null"] }

  expect = [
    "run.outputs.winners == 1 && len(run.outputs.holders) == 1",
    "len(calls.worker) == 1",
    "kv['claims/T-17'] == null",
  ]
}

test "a claim of another run is left alone" {
  workflow = workflow.claim
  inputs   = { task = "T-17" }
  kv       = { "claims/T-17" = "worker9" }
  agent "worker" { replies = [{ output = "done" }] }

  expect = [
    "run.outputs == {'claimed': false, 'holder': 'worker9'}",
    "len(calls.worker) == 0 && kv['claims/T-17'] == 'worker9'",
  ]
}

test "work that fails gives the claim back" {
  workflow = workflow.claim
  inputs   = { task = "T-17" }
  agent "worker" { replies = [{ error = { kind = "fatal", message = "no disk" } }] }

  expect = ["run.status == 'failed' && kv['claims/T-17'] == null"]
}

test "of 64 runs one has the claim, and the others learn who" {
  workflow = workflow.claim
  agent "worker" { replies = [{ output = "done", takes = "10m" }] }
  start "w0" { inputs = { task = "T-17", me = "worker0" } }
  start "w1" { inputs = { task = "T-17", me = "worker1" } }
  start "w2" { inputs = { task = "T-17", me = "worker2" } }
  start "w3" { inputs = { task = "T-17", me = "worker3" } }
  start "w4" { inputs = { task = "T-17", me = "worker4" } }
  start "w5" { inputs = { task = "T-17", me = "worker5" } }
  start "w6" { inputs = { task = "T-17", me = "worker6" } }
  start "w7" { inputs = { task = "T-17", me = "worker7" } }
  start "w8" { inputs = { task = "T-17", me = "worker8" } }
  start "w9" { inputs = { task = "T-17", me = "worker9" } }
  start "w10" { inputs = { task = "T-17", me = "worker10" } }
  start "w11" { inputs = { task = "T-17", me = "worker11" } }
  start "w12" { inputs = { task = "T-17", me = "worker12" } }
  start "w13" { inputs = { task = "T-17", me = "worker13" } }
  start "w14" { inputs = { task = "T-17", me = "worker14" } }
  start "w15" { inputs = { task = "T-17", me = "worker15" } }
  start "w16" { inputs = { task = "T-17", me = "worker16" } }
  start "w17" { inputs = { task = "T-17", me = "worker17" } }
  start "w18" { inputs = { task = "T-17", me = "worker18" } }
  start "w19" { inputs = { task = "T-17", me = "worker19" } }
  start "w20" { inputs = { task = "T-17", me = "worker20" } }
  start "w21" { inputs = { task = "T-17", me = "worker21" } }
  start "w22" { inputs = { task = "T-17", me = "worker22" } }
  start "w23" { inputs = { task = "T-17", me = "worker23" } }
  start "w24" { inputs = { task = "T-17", me = "worker24" } }
  start "w25" { inputs = { task = "T-17", me = "worker25" } }
  start "w26" { inputs = { task = "T-17", me = "worker26" } }
  start "w27" { inputs = { task = "T-17", me = "worker27" } }
  start "w28" { inputs = { task = "T-17", me = "worker28" } }
  start "w29" { inputs = { task = "T-17", me = "worker29" } }
  start "w30" { inputs = { task = "T-17", me = "worker30" } }
  start "w31" { inputs = { task = "T-17", me = "worker31" } }
  start "w32" { inputs = { task = "T-17", me = "worker32" } }
  start "w33" { inputs = { task = "T-17", me = "worker33" } }
  start "w34" { inputs = { task = "T-17", me = "worker34" } }
  start "w35" { inputs = { task = "T-17", me = "worker35" } }
  start "w36" { inputs = { task = "T-17", me = "worker36" } }
  start "w37" { inputs = { task = "T-17", me = "worker37" } }
  start "w38" { inputs = { task = "T-17", me = "worker38" } }
  start "w39" { inputs = { task = "T-17", me = "worker39" } }
  start "w40" { inputs = { task = "T-17", me = "worker40" } }
  start "w41" { inputs = { task = "T-17", me = "worker41" } }
  start "w42" { inputs = { task = "T-17", me = "worker42" } }
  start "w43" { inputs = { task = "T-17", me = "worker43" } }
  start "w44" { inputs = { task = "T-17", me = "worker44" } }
  start "w45" { inputs = { task = "T-17", me = "worker45" } }
  start "w46" { inputs = { task = "T-17", me = "worker46" } }
  start "w47" { inputs = { task = "T-17", me = "worker47" } }
  start "w48" { inputs = { task = "T-17", me = "worker48" } }
  start "w49" { inputs = { task = "T-17", me = "worker49" } }
  start "w50" { inputs = { task = "T-17", me = "worker50" } }
  start "w51" { inputs = { task = "T-17", me = "worker51" } }
  start "w52" { inputs = { task = "T-17", me = "worker52" } }
  start "w53" { inputs = { task = "T-17", me = "worker53" } }
  start "w54" { inputs = { task = "T-17", me = "worker54" } }
  start "w55" { inputs = { task = "T-17", me = "worker55" } }
  start "w56" { inputs = { task = "T-17", me = "worker56" } }
  start "w57" { inputs = { task = "T-17", me = "worker57" } }
  start "w58" { inputs = { task = "T-17", me = "worker58" } }
  start "w59" { inputs = { task = "T-17", me = "worker59" } }
  start "w60" { inputs = { task = "T-17", me = "worker60" } }
  start "w61" { inputs = { task = "T-17", me = "worker61" } }
  start "w62" { inputs = { task = "T-17", me = "worker62" } }
  start "w63" { inputs = { task = "T-17", me = "worker63" } }

  expect = [
    "len(runs) == 64 && all(runs, .status == 'succeeded' && .outputs.holder == 'worker0')",
    "count(runs, .outputs.claimed) == 1 && runs.w0.outputs.claimed",
    "len(calls.worker) == 1 && kv['claims/T-17'] == null",
  ]
}
