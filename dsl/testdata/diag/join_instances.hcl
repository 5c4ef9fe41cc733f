workflow "w" {
  step "ask" {
    for_each = ["x", "y"]
    run      = ["echo", each.value]
    join     = "succeeded + failed > 3"
  }
}
