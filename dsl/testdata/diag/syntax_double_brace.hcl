workflow "ci" {
  step "build" {
    run  = ["make"]
    when = "${{ input.env }}"
  }
}
