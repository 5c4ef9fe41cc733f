# The run asks another system every 30 seconds whether a job is done, for at most an hour.

workflow "poll" {
  input "job" {
    type    = string
    default = "17"
  }

  step "ask" {
    run    = ["./agents/job", input.job]
    parse  = "json"
    output = object({ state = string, result = optional(string) })

    repeat {
      until = "result.output.state in ['done', 'broken']"
      max   = 1000
      delay = "30s"
    }

    deadline { after = "1h" }
  }

  step "broken" {
    fail { message = "the job is broken: ${input.job}" }
    when = "step.ask.output.state == 'broken'"
  }

  output "result" { value = step.ask.output.result }
  output "asked" { value = step.ask.iterations }
}
