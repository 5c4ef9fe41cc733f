# A manager divides a goal into tasks at run time, workers do the tasks at once, and the manager combines the results.

agent "manager" {
  type    = "exec"
  command = ["./agents/manager"]
}

agent "worker" {
  type        = "exec"
  command     = ["./agents/worker"]
  concurrency = 3 # three tasks at once, over all runs
}

workflow "manage" {
  input "goal" {
    type    = string
    default = "Release version 1.4."
  }

  step "plan" {
    agent  = agent.manager
    task   = "Divide this goal into tasks that do not depend on each other: ${input.goal}"
    output = object({ tasks = list(string) })
  }

  # A task that fails does not stop the others; its result is null.
  step "work" {
    for_each = step.plan.output.tasks
    agent    = agent.worker
    task     = each.value
    output   = object({ result = string })
    on_error = "continue"
  }

  step "report" {
    agent  = agent.manager
    task   = "Put the results together. The goal was: ${input.goal}"
    with   = { tasks = step.plan.output.tasks, results = [for w in step.work.output : try(w.result, null)] }
    output = object({ report = string })
  }

  output "report" { value = step.report.output.report }
  output "tasks" { value = length(step.plan.output.tasks) }
}
