workflow "w" {
  step "shard" {
    for_each = [1, 2, 3]
    run      = "echo ${each.value}"
  }

  step "lint" { run = ["lint"] }

  step "first" { value = step.shard[0].output }

  step "second" {
    run  = ["true"]
    when = "step.shard[1].output == '2'"
  }

  step "third" { value = step.shard.2.output }

  step "fourth" { value = step.lint[0].output }

  step "fine" { value = [step.shard.output[0], { "0" = "a" }[0]] }
}
