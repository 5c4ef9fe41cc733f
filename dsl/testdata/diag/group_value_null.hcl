workflow "w" {
  parallel "race" {
    join  = "first_success"
    value = [upper(step.a.output), lower(step.b.output)]
    step "a" { run = ["true"] }
    step "b" { run = ["true"] }
  }
}
