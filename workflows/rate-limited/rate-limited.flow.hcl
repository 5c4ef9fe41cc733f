# An answer 429 says when to come back. The step waits until then without a process or a slot, also over a crash, and asks again.

workflow "ask" {
  input "url" {
    type    = string
    default = "https://api.example.com/report"
  }

  step "ask" {
    http { url = input.url }

    retry {
      max_attempts = 5
      when         = "error.kind in ['rate_limited', 'transient']"
    }
  }

  output "report" { value = step.ask.output.body }
}
