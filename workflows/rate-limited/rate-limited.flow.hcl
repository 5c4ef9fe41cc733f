# An answer 429 says when to come back. The step waits until then without a process or a slot, also over a crash, and asks again.

workflow "ask" {
  # Where this is empty, a stand-in answers.
  input "url" {
    type    = string
    default = ""
  }

  step "ask" {
    when = "input.url != ''"
    http { url = input.url }

    retry {
      max_attempts = 5
      when         = "error.kind in ['rate_limited', 'transient']"
    }
  }

  step "stand_in" {
    when = "input.url == ''"
    run  = ["./agents/service"]
  }

  output "report" { value = try(step.ask.output.body, step.stand_in.output) }
}
