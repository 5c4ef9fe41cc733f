workflow "w" {
  step "count" {
    value = last.output
    repeat { max = 3 }
  }
}
