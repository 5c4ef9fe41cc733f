workflow "w" {
  step "a" {
    value = 1
    gate "both" {
      check = "true"
      benchmark { run = ["bench"] }
    }
    gate "names" {
      dir = "bench"
      benchmark {
        run            = ["bench"]
        samples        = 0
        metric         = "ops per second"
        baseline       = ""
        max_regression = "-1%"
      }
    }
    gate "nothing" {
      benchmark {}
    }
  }
}
