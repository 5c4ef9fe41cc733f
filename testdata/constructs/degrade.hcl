# A lesser output stands in for one that failed.
workflow "degraded" {
  step "translate" {
    run = ["exit", "1"]
    degrade { output = "as it was" }
  }

  output "text" { value = step.translate.output }
}
