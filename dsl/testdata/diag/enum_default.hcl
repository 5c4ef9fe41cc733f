variable "level" {
  type    = string
  enum    = ["low", "high"]
  default = "hihg"
}
workflow "w" {
  step "a" { run = ["true"] }
}
