# Jobs share processors, memory and graphics cards. A job starts when all of its resources are free in all runs of the store, and gives them
# back at its end, however it ends. A job that needs more than the pool has fails at once.

quota "cpu" { capacity = 8 }

quota "memory_gb" { capacity = 32 }

quota "gpu" { capacity = 2 }

agent "worker" {
  type    = "exec"
  command = ["./agents/worker"]
}

workflow "jobs" {
  input "jobs" {
    type = list(object({ name = string, cpu = number, memory_gb = number, gpu = number }))
    default = [
      { name = "train", cpu = 2, memory_gb = 16, gpu = 1 },
      { name = "index", cpu = 4, memory_gb = 8, gpu = 0 },
    ]
  }

  step "job" {
    for_each = input.jobs
    agent    = agent.worker
    task     = each.value.name
    quota    = { cpu = each.value.cpu, memory_gb = each.value.memory_gb, gpu = each.value.gpu }
    on_error = "continue"
  }
}
