variable "n" {
  type    = number
  default = "three"
}
workflow "w" {
  step "a" {
    run = ["true"]
  }
}
