gate "small" {
  check = "result.output.size < 100"
}

workflow "w" {
  parallel "mirrors" {
    join    = "first_success"
    losers  = "cancel"
    timeout = "10m"
    gates   = [gate.small]
    value   = { size = length(coalesce(step.near.output, step.far.output)) }
    winner  = "near"
    output  = object({ size = number })

    step "near" { run = ["./fetch", "near"] }
    step "far" { run = ["./fetch", "far"] }
  }
}
