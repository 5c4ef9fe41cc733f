workflow "w" {
  step "pause" {
    wait { duration = "1s" }
  }
  output "o" { value = step.pause.output }
}
