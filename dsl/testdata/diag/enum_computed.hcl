variable "level" {
  type = string
  enum = "low, high"
}
workflow "w" {
  step "a" { run = ["true"] }
}
