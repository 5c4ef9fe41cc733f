# Rules, joins, repeats, switches, and what becomes of failures.
workflow "constructs" {
  input "kind" { type = string }
  input "hosts" {
    type    = list(string)
    default = []
  }
  require {
    condition = "input.kind != ''"
    message   = "a kind is needed"
  }

  step "build" {
    run      = ["make"]
    on_error = "stop"
    priority = "high"
  }
  step "report" {
    run          = ["echo", "${step.build.status} ${step.build.output == null ? "" : step.build.output}"]
    trigger_rule = "all_done"
  }
  step "guess" {
    run      = ["guess"]
    on_error = "continue"
    degrade { output = "none: ${error.message}" }
  }

  switch "how" {
    depends_on = [step.guess]
    default {
      step "other" { value = step.build.output }
    }
    case {
      when = "input.kind == 'bug'"
      step "fix" { run = ["fix"] }
      step "show" { value = step.fix.output }
    }
  }

  parallel "race" {
    join   = "first_success"
    losers = "detach"
    step "a" { run = ["a"] }
    step "b" { run = ["b"] }
  }
  step "won" { value = "${coalesce(step.race.winner, "nobody")}: ${try(step.race.output.a, step.race.output.b, "")}" }

  step "ping" {
    for_each        = input.hosts
    run             = ["ping", "--", each.value]
    max_concurrency = 2
    join            = "succeeded >= 2 || failed > total / 2 && result.exit_code != 0"
  }
  step "quorum" {
    for_each = input.hosts
    run      = ["ask", "--", each.value]
    join     = length(input.hosts) > 3 ? 3 : 1
  }

  sequence "polish" {
    step "draft" { run = ["draft", "--", coalesce(last.step.judge.output, "nothing yet"), tostring(iteration)] }
    step "judge" { run = ["judge", "--", step.draft.output] }
    step "again" {
      run  = ["true"]
      when = "last.step.judge.status != 'succeeded'"
    }
    repeat {
      until = "step.judge.output == 'good' || iteration >= 2 && result.status == 'failed'"
      max   = 5
      delay = "1s"
    }
  }
  step "polished" {
    value = [step.polish.output.judge, step.polish.iterations]
    require { condition = "step.polish.iterations < 4" }
  }
  step "count" {
    value = coalesce(last.step.count.output, 0) + 1
    repeat { max = 3 }
  }

  step "no" {
    when = "input.kind == 'no'"
    fail {
      message = "no ${input.kind}"
      kind    = "fatal"
    }
  }
  step "enough" {
    when = "step.no.status == 'skipped' && input.kind == 'enough'"
    end {
      status  = "cancelled"
      message = "that was all"
    }
  }

  output "fixed" { value = step.how.output.fix }
}
