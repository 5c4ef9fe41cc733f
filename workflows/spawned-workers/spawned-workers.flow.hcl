# A manager starts a process for each task, and the workers have their own protocol.
# A worker gets its task as JSON on standard input. It can print lines about its work; the last line is its result, as JSON with the
# status completed. A worker that fails writes JSON with the status failed to standard error, and still exits with 0. So a
# gate reads the answer, and not the exit code. A failed task has at most three attempts. A task that stays
# unsolved does not hold back the results of the others.

gate "completed" {
  check   = "result.stderr == '' && any(result.output, # contains '\"status\":\"completed\"')"
  message = "the worker says: ${try(result.stderr, "")}"
  on_fail = "retry"
}

workflow "manager" {
  input "tasks" {
    type = list(object({ id = string, type = string, payload = string }))
    default = [
      { id = "t1", type = "DATA_ANALYSIS", payload = "orders of this week" },
      { id = "t2", type = "REPORT_GENERATION", payload = "t1" },
      { id = "t3", type = "PAINTING", payload = "a wall" },
    ]
  }

  step "work" {
    for_each        = input.tasks
    max_concurrency = 2
    run             = ["./agents/worker"]
    stdin           = jsonencode(each.value)
    parse           = "lines"
    gates           = [gate.completed]
    timeout         = "1m"
    on_error        = "continue"
    retry { max_attempts = 3 }
  }

  step "results" {
    value = { for i, task in input.tasks : task.id => try(jsondecode(step.work.output[i][length(step.work.output[i]) - 1]).result, null) }
  }

  output "results" { value = step.results.output }
  output "unsolved" { value = [for i, task in input.tasks : task.id if step.work.output[i] == null] }
}
