# What a workflow and its groups say holds for the steps inside: the nearest wins, and an agent's word lies between.
agent "slow" {
  type    = "shell"
  run     = "cat"
  timeout = "1h"
  retry {
    max_attempts = 7
  }
}

workflow "defaults" {
  shell = "bash"
  retry { max_attempts = 2 }

  parallel "group" {
    env   = { A = "1" }
    dir   = "sub"
    retry {
      max_attempts = 5
      base_delay   = "2s"
    }
    step "by_group" { run = "true" }
    step "by_agent" { agent = agent.slow }
    step "by_step" {
      run   = "true"
      shell = "sh"
      retry {
        max_attempts = 3
      }
    }
  }
}
