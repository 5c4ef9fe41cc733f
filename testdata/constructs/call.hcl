# A call is a run of its own. Its outputs are the step's; a failure of it is the step's, too.

workflow "release" {
  default = true

  step "targets" { value = ["eu", "us", "moon"] }

  step "deploy" {
    for_each = step.targets.output
    call     = workflow.deploy
    with     = { target = each.value }
    on_error = "continue"
  }

  step "report" {
    call       = workflow.report
    with       = { count = length(step.targets.output) }
    depends_on = [step.deploy]
  }

  output "report" { value = step.report.output.text }
  output "deployed" { value = [for d in step.deploy.output : try(d.where, "nowhere")] }
}

workflow "deploy" {
  input "target" { type = string }

  step "go" {
    run  = ["exit", "3"]
    when = "input.target == 'moon'"
  }

  step "wait" {
    wait { duration = "2s" }
    depends_on = [step.go]
  }

  output "where" { value = "deployed to ${input.target}" }
}

workflow "report" {
  input "count" { type = number }

  step "write" { call = workflow.text }

  output "text" { value = "${step.write.output.text} ${input.count}" }
}

workflow "text" {
  step "say" { run = ["say", "targets:"] }

  output "text" { value = step.say.output }
}
