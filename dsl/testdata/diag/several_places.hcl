workflow "w" {
  step "a" {
    run     = ["true"]
    timeot  = "5s"
    parse   = "xml"
  }
  step "b" {
    run        = ["echo", step.c.output]
    depends_on = [step.aa]
  }
}
