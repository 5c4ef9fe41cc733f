workflow "w" {
  step "report" {
    run  = ["echo", "done"]
    when = "run.status == 'failed'"
  }
  output "status" { value = run.status }
}
