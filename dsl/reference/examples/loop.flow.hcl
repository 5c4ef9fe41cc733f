channel "ops" {
  type = "webhook"
  url  = "https://hooks.example.com/ops"
}

variable "token" {
  type      = string
  sensitive = true
}

agent "sam" {
  type    = "exec"
  command = ["./agent"]
  timeout = "1h"
}

loop "team" {
  agents   = [agent.sam]
  idle     = "30s"
  idle_max = "10m"
  notify   = [channel.ops]
  worktree = true

  source "roadmap" {
    path    = "ROADMAP.md"
    tickets = "backlog"
  }

  source "backlog" {
    from        = "github"
    repo        = "example/site"
    base_url    = "https://git.example.com/api/v1"
    token       = var.token
    login       = "sam-bot"
    assignee    = "none"
    labels      = ["ready"]
    claim_label = "in progress"
  }

  source "improvement" {
    rotate = [workflow.tidy]
    every  = "24h"
    with   = { worker = worker }
  }

  handle { workflow = workflow.work }

  limits { cost_usd_per_day = 20 }

  target {
    throughput      = 2
    idle            = 0.5
    retry_rate      = 0.2
    escalation_rate = 0.1
  }
}

workflow "work" {
  step "work" {
    agent = agent.sam
    task  = "Do the next item."
  }
}

workflow "tidy" {
  input "worker" { type = string }

  step "tidy" {
    agent = agent.sam
    task  = "Tidy one file, ${input.worker}."
  }
}
