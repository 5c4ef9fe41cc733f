workflow "w" {
  step "a" {
    parse = "json"
    task  = "x"
    remember { text = "x" }
  }
}
