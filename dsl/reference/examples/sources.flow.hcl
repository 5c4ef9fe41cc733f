agent "sam" {
  type    = "exec"
  command = ["./agent"]
  timeout = "1h"
}

loop "programs" {
  agents = [agent.sam]

  source "backlog" {
    from    = "exec"
    command = ["./list-tickets"]
  }

  handle { workflow = workflow.work }
}

loop "services" {
  agents = [agent.sam]

  source "backlog" {
    from    = "http"
    url     = "https://tickets.example.com/flowrun"
    headers = { X-Team = "site" }
  }

  handle { workflow = workflow.work }
}

workflow "work" {
  step "work" {
    agent = agent.sam
    task  = "Do the next item."
  }
}
