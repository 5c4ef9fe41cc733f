agent "a" {
  type    = "exec"
  command = ["cat"]
}

workflow "w" {
  default = true
  input "go" { type = bool }
  step "list" {
    when  = "input.go"
    run   = ["list"]
    parse = "json"
  }
  step "write" {
    agent    = agent.a
    on_error = "continue"
  }
  step "text" {
    when = "input.go"
    run  = ["text"]
  }
  step "with" {
    trigger_rule = "all_success"
    depends_on   = [step.text]
    run          = ["with"]
  }
  step "behind" {
    depends_on   = [step.with]
    trigger_rule = "all_success"
    run          = ["behind"]
  }
  step "r1" { run = ["echo", step.list.output] }
  step "r2" { run = ["echo", "${step.list.output.name} is here"] }
  step "r3" { run = "echo ${step.write.output}" }
  step "r4" {
    when = "step.list.output[0].n > 3"
    run  = ["echo"]
  }
  step "r5" { value = step.list.output["n"] + 1 }
  step "r6" { run = ["echo", "${step.with.output} and ${step.behind.output}"] }
  step "r7" {
    when = "step.list.output.ok"
    run  = ["echo"]
  }

  step "good1" { run = ["echo", try("${step.list.output.name} is here", "")] }
  step "good2" {
    when = "step.list.status == 'succeeded'"
    run  = ["echo", "${step.list.output.name} is here"]
  }
  step "good3" {
    when = "step.list.status == 'succeeded' && step.list.output.n > 3"
    run  = ["echo", step.list.output.name]
  }
  step "good4" { run = ["echo", step.list.output == null ? "" : "${step.list.output.name} is here"] }
  step "good5" { run = ["echo", coalesce(step.list.output.name, "nobody")] }
  step "good6" {
    when = "step.list.output.name != null && step.list.output.name contains 'x'"
    run  = ["echo", jsonencode(step.write.output)]
  }
  step "good7" { value = { it = step.list.output.name } }
}
