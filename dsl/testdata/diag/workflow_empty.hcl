workflow "w" {
}
