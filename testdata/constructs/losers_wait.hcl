# The first success decides, and the rest is waited for.
# races
agent "worker" {
  type    = "exec"
  command = ["agent"]
}

workflow "race" {
  parallel "mirrors" {
    join   = "first_success"
    losers = "wait"
    step "near" {
      agent = agent.worker
      with  = { takes = 1 }
    }

    step "far" {
      agent = agent.worker
      with  = { takes = 3 }
    }
  }

  output "winner" { value = step.mirrors.winner }
}
