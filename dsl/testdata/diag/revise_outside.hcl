agent "a" {
  type = "null"
}

workflow "w" {
  sequence "s" {
    step "write" { agent = agent.a }
    parallel "checks" {
      step "lint" { run = ["true"] }
      step "each" {
        for_each = [1, 2]
        value    = each.value
      }
    }
    switch "kind" {
      case {
        when = "step.write.output == 1"
        step "taken" { value = 1 }
      }
    }
    step "ok" {
      approve {
        prompt = "Good?"
        show   = step.lint.stdout
        revise = step.write
      }
    }
    step "after" { value = [step.lint.output, step.each.output, step.kind.output, previous.output.comment, previous.attempts] }
  }
  step "outside" {
    value      = [step.write.agent, step.taken.output, step.lint, step["lint"].output]
    when       = "step.ok.error.reason == 'rejected' && step['lint'].stdout != ''"
    depends_on = [step.lint]
  }
  output "typo" { value = step.write.output.x + step.ok.output.commment }
}
