agent "sam" { type = "null" }

variable "token" {
  type      = string
  sensitive = true
}

workflow "w" {
  step "s" { value = 1 }
}

loop "l" {
  agents = [agent.sam]
  idle   = var.token
  source "backlog" {}
  source "backlog" { from = "gitlab" }
  source "backlog" { from = "github" }
  source "backlog" {
    from  = "github"
    repo  = "app"
    path  = "TODO.md"
    token = var.token
  }
  source "backlog" {
    from = "http"
    url  = "tracker"
  }
  source "backlog" {
    from    = "exec"
    headers = { a = "b" }
  }
  source "roadmap" { section = "Plan" }
  handle { workflow = workflow.w }
}
