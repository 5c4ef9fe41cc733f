# A job of another system is asked every half minute until it is done, for at most an hour.

workflow "poll" {
  input "job" {
    type    = string
    default = "https://ci.example.com/jobs/17"
  }

  step "ask" {
    http { url = input.job }

    repeat {
      until = "result.output.body.state in ['done', 'broken']"
      max   = 1000
      delay = "30s"
    }

    deadline { after = "1h" }
  }

  step "broken" {
    fail { message = "the job is broken: ${input.job}" }
    when = "step.ask.output.body.state == 'broken'"
  }

  output "result" { value = step.ask.output.body.result }
  output "asked" { value = step.ask.iterations }
}
