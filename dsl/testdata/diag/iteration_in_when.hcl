workflow "w" {
  sequence "polish" {
    step "warm" {
      run  = ["true"]
      when = "iteration == 1"
    }
    repeat { max = 3 }
  }
}
