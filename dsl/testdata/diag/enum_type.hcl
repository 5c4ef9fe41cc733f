variable "level" {
  type = number
  enum = [1, "two", 3]
}
workflow "w" {
  step "a" { run = ["true"] }
}
