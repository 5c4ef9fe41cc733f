workflow "w" {
  switch "x" {
    case { when = "true" }
  }
}
