variable "token" {
  type      = string
  sensitive = true
}

agent "ann" { type = "human" }

agent "null" { type = "null" }

pool "some" { members = [agent.null, agent.ann] }

workflow "w" {
  input "key" {
    type      = string
    sensitive = true
  }

  step "one" {
    agent = agent.ann
    task  = "Log in with ${var.token}."
  }

  step "two" {
    agent    = agent.null
    fallback = [agent.ann]
    with     = { name = "x", key = input.key }
  }

  step "three" {
    agent = pool.some
    with  = { key = input.key }
  }

  step "fine" {
    agent = agent.null
    with  = { key = input.key }
  }
}
