# Agents answer questions within a budget. The strong agent answers until its 2 dollars are used. The cheap agent has 50 cents for
# the remaining questions. The answers so far count, and the run says how many questions are open. A running answer is never
# stopped, so max_concurrency is the largest number of questions by which the budget can be exceeded.

agent "strong" {
  type    = "exec"
  command = ["./agents/strong"]
  output  = object({ question = string, answer = string })
}

agent "cheap" {
  type    = "exec"
  command = ["./agents/cheap"]
  output  = object({ question = string, answer = string })
}

workflow "answers" {
  budget { attempts = 100 }

  input "questions" {
    type    = list(string)
    default = ["Why is the sky blue?", "How old is the moon?", "Who was Ada?", "Where is Ulm?"]
  }

  step "answer" {
    for_each        = input.questions
    max_concurrency = 1
    agent           = agent.strong
    task            = each.value
    on_error        = "continue"
    budget { cost_usd = 2 }
  }

  step "rest" {
    for_each        = [for i, a in step.answer.output : input.questions[i] if a == null]
    max_concurrency = 1
    agent           = agent.cheap
    task            = each.value
    on_error        = "continue"
    budget { cost_usd = 0.5 }
  }

  output "answers" { value = [for a in concat(step.answer.output, step.rest.output) : a if a != null] }
  output "open" { value = length(step.answer.output) - length([for a in concat(step.answer.output, step.rest.output) : a if a != null]) }
  output "cost_usd" { value = run.usage.cost_usd }
}
