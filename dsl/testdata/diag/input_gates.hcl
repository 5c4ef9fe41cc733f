gate "suite_run" { run = ["make", "test"] }

gate "critic" {
  review { agent = agent.judge }
}

gate "short" { check = "len(result.output) < 10" }

gate "level" { check = "result.output.level > 3" }

agent "judge" { type = "null" }

workflow "w" {
  input "text" {
    type  = string
    gates = [gate.suite_run, gate.critic, gate.short, gate.short, gate.shrot]
  }
  input "count" {
    type  = number
    gates = [gate.level]
  }
  input "token" {
    type      = string
    sensitive = true
    gates     = [gate.short]
  }
  step "a" {
    run = ["a", input.text, "${input.count}"]
    env = { TOKEN = input.token }
  }
}
