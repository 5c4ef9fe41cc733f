agent "a" { type = "null" }

workflow "w" {
  step "wait" {
    wait { event = "deployed" }
  }

  step "who" { agent = library.developers }

  step "two" {
    agent    = agent.a
    fallback = [library.developers]
    escalate = escalation.standard
  }

  step "when" {
    value = event.branch
    when  = "now > 3"
    approve { prompt = "Go on?" }
  }

  delegate "review" {}
}
