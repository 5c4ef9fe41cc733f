# The answer 429 of a service says when to try again. The step waits until then, without a process or a slot and even through a crash.

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
