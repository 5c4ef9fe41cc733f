workflow "w" {
  step "b" {
    run  = ["date"]
    when = "run.id > 'a'"
  }

  step "a" { value = "it is ${coalesce(step.b.output, "")}" }

  step "c" {
    run  = "echo ${coalesce(step.b.output, step.b.stderr, "")}"
    when = "coalesce(step.b.output, '') == ''"
  }

  step "d" { value = coalescelist(split(" ", "a b"), []) }

  step "e" { value = coalesce(step.b.output, null) }

  step "fine" { value = [try(step.b.output, ""), coalesce(step.b.output, "none"), coalescelist([], [1])] }
}
