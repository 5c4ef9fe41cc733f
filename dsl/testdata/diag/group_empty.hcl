workflow "w" {
  parallel "p" {
  }
}
