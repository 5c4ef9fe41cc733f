workflow "w" {
  job "a" {
    run = ["true"]
  }
}
