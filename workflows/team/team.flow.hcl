# A team shares the tasks of a change. A conductor splits the change and names an agent for each part. A part that any agent can do goes to the
# agent with the fewest tasks, a part that needs a GPU goes to an agent with a GPU, and agents review in turn.

agent "conductor" {
  type    = "exec"
  command = ["./agents/conductor"]
}

agent "backend" {
  type         = "exec"
  command      = ["./agents/member", "backend"]
  capabilities = ["go", "sql"]
  concurrency  = 2
}

agent "frontend" {
  type         = "exec"
  command      = ["./agents/member", "frontend"]
  capabilities = ["typescript"]
  concurrency  = 2
}

agent "trainer" {
  type         = "exec"
  command      = ["./agents/member", "trainer"]
  capabilities = ["go", "gpu"]
  concurrency  = 1
}

agent "anna" {
  type    = "exec"
  command = ["./agents/member", "anna"]
}

agent "bert" {
  type    = "exec"
  command = ["./agents/member", "bert"]
}

agent "cleo" {
  type    = "exec"
  command = ["./agents/member", "cleo"]
}

pool "team" { members = [agent.backend, agent.frontend, agent.trainer] }

pool "reviewers" {
  members  = [agent.anna, agent.bert, agent.cleo]
  strategy = "round_robin"
}

workflow "change" {
  input "change" {
    type    = string
    default = "Orders have a currency."
  }

  input "chores" {
    type    = list(string)
    default = []
  }

  input "models" {
    type    = list(string)
    default = []
  }

  # The conductor answers with the parts, such as [{ who = "backend", task = "a table of orders" }]. A name that is not a member fails that part.
  step "split" {
    agent  = agent.conductor
    task   = "Split the change, and name for each part a member of the team: ${input.change}"
    output = list(object({ who = string, task = string }))
  }

  step "part" {
    for_each = step.split.output
    agent    = pool.team[each.value.who]
    task     = each.value.task
  }

  step "chore" {
    for_each = input.chores
    agent    = pool.team
    task     = each.value
  }

  step "train" {
    for_each     = input.models
    agent        = pool.team
    capabilities = ["gpu"]
    task         = "Train ${each.value}"
  }

  step "review" {
    for_each = step.part.output
    agent    = pool.reviewers
    task     = "Review part ${each.key}"
    with     = { change = each.value }
  }

  output "reviews" { value = step.review.output }
}
