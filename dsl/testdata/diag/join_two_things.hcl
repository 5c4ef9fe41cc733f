workflow "w" {
  parallel "race" {
    for_each = ["x", "y"]
    join     = 1
    step "a" { run = ["echo", each.value] }
    step "b" { run = ["echo", each.value] }
  }
}
