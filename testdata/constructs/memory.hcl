# What a step remembers, another one finds, and an agent is told. A gate sees what its agent was told.

memory {
  editor = agent.forgetful
  embedder { provider = "none" }
}

agent "worker" {
  type    = "exec"
  command = ["agent"]
  soul    = "You keep the tests of the billing service green."
}

agent "forgetful" {
  type    = "exec"
  command = ["agent"]
  memory { recall = false }
}

workflow "learn" {
  step "remember" {
    remember {
      lesson = "Run the linter before the tests of the billing service."
      tags   = ["billing", "tests"]
    }
  }

  step "recall" {
    recall {
      query = "linter and tests of the billing service"
      tag   = "billing"
    }
    depends_on = [step.remember]
  }

  step "work" {
    agent = agent.worker
    task  = "Run the linter and the tests of the billing service."
    with  = { takes = 1, recalls = step.recall.output.count }
    gate "told" {
      check = "recalled.count == result.output.with.recalls && recalled.items[0].type == 'insight'"
    }
  }

  step "alone" {
    agent      = agent.forgetful
    task       = "Run the linter and the tests of the billing service."
    with       = { recalls = 0 }
    depends_on = [step.work]
    gate "not_told" { check = "recalled.count == 0 && recalled.ids == []" }
  }

  output "known" { value = step.remember.output.known }
  output "found" { value = step.recall.output.items[0].lesson }
}
