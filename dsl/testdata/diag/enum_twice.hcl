variable "level" {
  type = string
  enum = ["low", "high", "low"]
}
workflow "w" {
  step "a" { run = ["true"] }
}
