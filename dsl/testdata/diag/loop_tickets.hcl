agent "sam" { type = "null" }

workflow "work" {
  step "do" { value = 1 }
}

loop "none" {
  agents = [agent.sam]
  source "dispatch" { tickets = "backlog" }
  source "roadmap" {
    path    = "ROADMAP.md"
    tickets = "backlog"
  }
  source "roadmap" {
    path    = "OTHER.md"
    tickets = "issues"
  }
  handle { workflow = workflow.work }
}

loop "two" {
  agents = [agent.sam]
  source "backlog" {
    from = "file"
    path = "TODO.md"
  }
  source "backlog" {
    from = "github"
    repo = "acme/app"
  }
  source "roadmap" {
    path    = "ROADMAP.md"
    tickets = "backlog"
  }
  handle { workflow = workflow.work }
}
