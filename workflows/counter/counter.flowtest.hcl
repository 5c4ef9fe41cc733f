test "100 additions at once make 100" {
  inputs = { events = [for n in range(100) : tostring(n)] }

  expect = [
    "run.outputs.total == 100",
    "len(uniq(step.add.output)) == 100",
    "kv['events'] == 100",
  ]
}

test "a crash adds nothing and loses nothing" {
  crash_everywhere = true
  inputs           = { events = ["a", "b", "c"] }
  kv               = { events = 39 }

  expect = ["run.outputs.total == 42"]
}

test "runs count together, whichever crashes" {
  crash_everywhere = true
  start "a" { inputs = { events = ["x", "y"] } }

  start "b" {
    inputs = { events = ["z"] }
    after  = "1s"
  }

  expect = ["kv['events'] == 3 && runs.a.outputs.total == 2 && runs.b.outputs.total == 3"]
}
