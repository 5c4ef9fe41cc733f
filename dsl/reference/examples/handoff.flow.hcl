channel "team" {
  type = "webhook"
  url  = "https://hooks.example.com/team"
}

agent "tester" {
  type    = "exec"
  command = ["./agent"]
}

workflow "w" {
  step "test" {
    agent   = agent.tester
    task    = "Test the page in one browser."
    timeout = "1h"
  }

  step "over" {
    depends_on = [step.test]

    handoff {
      to             = "tester"
      summary        = "The page is built."
      next           = "Test it in three browsers."
      decisions      = ["plain HTML, no scripts"]
      open_questions = ["Does it need a dark theme?"]
      blockers       = ["the staging server is down"]
      notify         = [channel.team]
    }
  }
}
