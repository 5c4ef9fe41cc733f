workflow "night" {
  step "prepare" { run = "echo 6" }

  parallel "suites" {
    depends_on = [step.prepare]
    for_each   = range(6)
    step "suite" { run = "sleep 4; echo suite ${each.key} in $(basename $PWD)" }
  }

  output "done" { value = "${step.prepare.output} suites" }
}
