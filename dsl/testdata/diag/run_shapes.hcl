workflow "w" {
  input "x" { type = string }
  input "on" { type = list(bool) }
  step "a" {
    run = concat(["./build"], input.on[0] ? ["-a"] : [], input.on[1] ? ["-b"] : [], input.on[2] ? ["-c"] : [], input.on[3] ? ["-d"] : [], input.on[4] ? ["-e"] : [],
    input.on[5] ? ["-f"] : [], input.on[6] ? ["-g"] : [], input.on[7] ? ["-h"] : [], input.on[8] ? ["-i"] : [], [input.x])
  }
}
